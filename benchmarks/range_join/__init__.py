"""Joins by points and intervals against everything else that computes them: one module per case, each with a `run`."""
