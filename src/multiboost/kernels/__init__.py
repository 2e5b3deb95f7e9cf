"""Numba kernels: arrays and named tuples of arrays in, arrays out.

Nothing here knows Python objects of the package.  ``compiler`` says how kernels are compiled and kept, ``calls`` how
one calls another that is compiled apart.  Kernels that may be shared by several threads take
``(tid, n_threads, sync, ...)`` as their first arguments: see ``team``.
"""
