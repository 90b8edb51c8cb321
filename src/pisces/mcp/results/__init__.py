"""From the result of a tool to that of the protocol: text and pictures for the model, data for programs.

Above is `mcp.server`. Below are the results of tools and the artifacts, where everything is kept that clients have no
room for.
"""
