"""Conversation engines behind the port of dialogue.engine."""
