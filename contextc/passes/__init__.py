"""From a graph and a target to the final text: slice (which symbols), plan (which form), assemble (the text)."""
