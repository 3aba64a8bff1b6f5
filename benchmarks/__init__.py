"""Benchmarks: what contextc does on real code, beside others."""
