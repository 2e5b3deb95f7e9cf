"""Tables larger than memory: files that are read in passes, and the arrays of a fit on the disk."""
