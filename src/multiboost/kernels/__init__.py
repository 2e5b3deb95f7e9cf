"""Numba kernels: plain arrays in, plain arrays out.

Nothing here knows Python objects of the package; every kernel has a slow NumPy
twin in ``tests/``.  Kernels that may be shared by several threads take
``(tid, n_threads, sync, ...)`` as their first arguments: see ``team``.
"""
