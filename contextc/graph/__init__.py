"""The typed call graph: built from the analyser's plain values, asked by the passes, exported as JSON and DOT."""
