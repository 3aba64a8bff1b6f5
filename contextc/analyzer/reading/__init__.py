"""From one file's bytes to its `ModuleFacts`: `read.py` chooses the reader, `pool.py` runs it in child processes."""
