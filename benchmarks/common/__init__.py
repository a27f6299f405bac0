"""Parts that all comparisons of engines share: engines, rounds, bounds, and Spark's figures of a query that ran."""
