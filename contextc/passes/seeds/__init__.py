"""Where a context starts: from targets, a diff, a failure or a task in words to seed symbols.

In: what the user gave, a graph, the files' texts. Out: `Seeds`. Each way has its module: `named`, `changes` (which
lines a diff touches: `patch` and `difference`), `failure` (frames: `traceback_text`), `about` (words: `vocabulary`).
"""
