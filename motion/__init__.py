"""How the body moves: gaze, breathing, sway and gestures, limited once at the end."""
