"""The loop: one for the whole family."""
