"""Spark's own SQL tests, run with Joinery's jar and without: `python -m spark_sql --help`."""
