"""Short timings that show what a change costs: `make bench-micro` keeps them and compares with the last."""
