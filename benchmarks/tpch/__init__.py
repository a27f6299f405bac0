"""TPC-H: its tables and its 22 queries."""
