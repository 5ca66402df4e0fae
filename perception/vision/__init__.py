"""Seeing faces from a moving head."""
