"""The call recorder: runs one Python program and writes which of the chosen files' functions called which, and where.

In: a folder with `job.json` (see `job`). Out, in that folder: `edges.jsonl` and `exec.json`, or `fault.txt`.

    PYTHON -X dev contextc/tracing/recorder/__main__.py JOB     # runs what JOB/job.json names, as PYTHON itself would

Runs in the recorded program's own interpreter, whatever is installed there: CPython 3.10 to 3.14, standard library
only, imports nothing of ours but its own modules, under a name that no program uses.
"""
