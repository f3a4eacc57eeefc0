"""``python -m distlint``."""

import sys

from distlint.cli import main

if __name__ == "__main__":
    sys.exit(main())
