"""Joinery: fast and safe LAST JOIN, range joins, skewed windows and selective joins for Spark."""
