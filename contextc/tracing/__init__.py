"""Recording the calls a user's own command makes: what is to be run, the run under the recorder, the file written.

The recorder itself (`recorder/`) runs in the command's interpreter and knows nothing of the rest of contextc.
"""
