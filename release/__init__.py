"""Everything that a release publishes."""
