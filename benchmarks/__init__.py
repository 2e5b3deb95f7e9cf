"""Benchmarks: our figures and those of other boosting packages, measured in one run."""
