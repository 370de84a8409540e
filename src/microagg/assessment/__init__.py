"""An original and a protected file -> Assessment: every measure, what forbids a release, what to know."""
