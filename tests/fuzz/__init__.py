"""Differential tests against stock Spark: `make fuzz`, see CONTRIBUTING.md."""
