"""Outputs, notebooks and variables by address, in pages that a client can hold.

Above is `mcp.server`. Below is the runtime. All of it can be had with the `session` tool too: many models cannot read
resources.
"""
