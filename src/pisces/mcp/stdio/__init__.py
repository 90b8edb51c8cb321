"""The server at the end of two pipes: the client has started it, and is the only one.

Above is the command line. Below is `mcp.server`, which gets the client's messages from here and knows nothing of pipes.
"""
