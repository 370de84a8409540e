"""The only place that knows algorithms. Start at `catalogue.py`: every method is one line there."""
