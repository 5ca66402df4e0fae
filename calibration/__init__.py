"""What is known about the body: frames, geometry and measured values."""
