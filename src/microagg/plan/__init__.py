"""What will be done: settings checked by themselves and against the data. Every decision is made here."""
