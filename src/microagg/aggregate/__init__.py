"""Groups turned into published values."""
