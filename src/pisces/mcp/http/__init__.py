"""The server over HTTP: any number of clients, each of which has to show the token.

Above is the command line. Below is `mcp.server`; requests reach it only after `guard` has judged them by their head.
"""
