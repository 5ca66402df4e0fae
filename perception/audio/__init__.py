"""Hearing a person through the robot's own voice and motors."""
