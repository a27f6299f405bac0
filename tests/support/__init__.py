"""Code that the tests share, importable as `support` (see pytest's `pythonpath` in pyproject.toml)."""
