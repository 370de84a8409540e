"""The Python face: one module for each thing that a user asks for."""
