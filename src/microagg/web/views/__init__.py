"""The six steps as HTML. Each is a function of the project; what changes while it is shown is an output."""
