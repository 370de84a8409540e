"""Slow, plain reference implementations that the library's kernels are compared with."""
