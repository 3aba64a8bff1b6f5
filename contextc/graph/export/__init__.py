"""The graph as files other tools read: `contextc.graph/1` JSON with its JSON Schema, and DOT."""
