"""What to say, when, and whom to attend to."""
