"""The script the recorded command's interpreter is started with. In: a job folder's path. Out: see `recorder.program`.

Also read by interpreters that are too old, to say so: nothing newer than Python 2 in this file.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - the user's interpreter, not ours
    with open(sys.argv[1] + "/fault.txt", "w") as file:
        file.write("Python %d.%d is too old to record, 3.10 or later is needed" % sys.version_info[:2])  # noqa: UP031
    sys.exit(2)

import importlib
import os

_NAME = "_contextc_recorder"  # in sys.modules; the program may hold a `recorder`, or contextc itself
_FOLDER = os.path.dirname(os.path.abspath(__file__))

if __name__ == "__main__":
    if sys.path and os.path.abspath(sys.path[0]) == _FOLDER:
        del sys.path[0]
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    package = type(sys)(_NAME)
    package.__path__ = [_FOLDER]
    sys.modules[_NAME] = package
    program = importlib.import_module(_NAME + ".program")
    sys.dont_write_bytecode = writes
    program.record_program(sys.argv[1])
