"""contextc: a type-aware context compiler for Python."""

__version__ = "0.1.0"
