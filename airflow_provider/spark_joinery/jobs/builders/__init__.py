"""How each kind of artifact is computed."""
