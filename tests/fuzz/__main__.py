"""`python -m fuzz`: see --help."""

from fuzz.runner import main

main()
