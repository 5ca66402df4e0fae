"""What is out there: voices and faces, fused into people."""
