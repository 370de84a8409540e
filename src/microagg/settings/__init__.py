"""Options: what kinds of values they take, where each is declared, how what was given is checked."""
