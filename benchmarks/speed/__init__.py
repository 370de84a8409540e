"""Speed and memory of kernels and whole calls, beside peers in the same run; writes docs/speed.md."""
