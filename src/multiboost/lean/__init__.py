"""Lean classifiers: all of them find a `Policy`, which says how much of a model a row needs."""
