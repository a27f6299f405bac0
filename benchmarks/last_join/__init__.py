"""LAST JOIN against everything else that can express it: one module per group of cases, each with a `run`."""
