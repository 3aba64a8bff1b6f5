"""`python -m contextc` is the `contextc` command.

What Python itself imports before this file runs (`importlib`, and this package) can't be helped from here: in a folder
that isn't trusted use the `contextc` script, or `python -P -m contextc`.
"""

import sys

from contextc.analyzer.search_path import leave_out_current_folder

leave_out_current_folder()

from contextc.cli import main  # noqa: E402 - nothing may be imported before

if __name__ == "__main__":
    sys.exit(main())
