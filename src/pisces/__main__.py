"""`python -m pisces`: the command line."""

import sys

from pisces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
