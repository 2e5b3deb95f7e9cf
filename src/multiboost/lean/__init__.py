"""Lean classifiers: how much of a model a row needs.  All of them find a `Policy` for the base classifiers of a model."""
