"""XML elements with lines, the values of their attributes, and trees of links."""
