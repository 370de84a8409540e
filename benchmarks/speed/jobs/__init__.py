"""What is measured: each function makes its data, does one thing and returns figures for one line."""
