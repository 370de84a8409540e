"""Runs that release nothing: strategies are compared, and plans are tried before they are suggested."""
