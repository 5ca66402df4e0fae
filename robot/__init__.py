"""The program: one process tree, one tick."""
