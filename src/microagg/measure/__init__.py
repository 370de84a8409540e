"""What a release loses and what it risks."""
