"""The MCP server: the tools of a runtime for any agent that speaks the Model Context Protocol.

Above is the command line, which starts it; the client is at the other end of a pipe or of HTTP. Below is the runtime:
nothing that a tool does is done here. Only `server` and what it imports load the SDK, which takes a second.
"""
