"""`python -m d2c`."""

from d2c.commands.cli import main

main()
