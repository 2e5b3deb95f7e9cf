"""``python -m multiboost``: the command."""

from .cli.app import main

if __name__ == "__main__":
    main()
