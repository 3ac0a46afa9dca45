"""`python -m foreshock` is the command `foreshock`."""

import sys

from foreshock._cli import main

if __name__ == "__main__":
    sys.exit(main())
