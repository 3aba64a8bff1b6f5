"""Frozen values that flow between the rooms. Imports nothing of ours but `contextc.errors`."""
