"""`python -m contextc` is the `contextc` command."""

from __future__ import annotations

import sys

from contextc.cli import main

if __name__ == "__main__":
    sys.exit(main())
