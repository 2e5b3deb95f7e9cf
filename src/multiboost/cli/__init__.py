"""The command ``multiboost``."""
