"""``python -m multiboost``: the command."""

from .cli.app import main

main()
