"""TPC-DS: its tables, and its 99 queries as Spark tests itself with them."""
