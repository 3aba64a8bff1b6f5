"""The graph room: façade, targets, exports, the name-only resolver, comparison."""
