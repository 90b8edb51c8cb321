"""MCP servers that run Python, beside one that does nothing, all with the official client over standard streams."""
