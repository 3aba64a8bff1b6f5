"""The values that flow between the rooms."""
