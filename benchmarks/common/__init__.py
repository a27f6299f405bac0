"""What all comparisons of engines share: engines, rounds, bounds, and what Spark says about a query that ran."""
