"""The background host of a user: one process that keeps named sessions between commands, and the way to it.

Above it is the command line, which talks to it through `client` over a unix socket and so needs no runtime of its own.
Below it is the runtime: the host has one, and every session lives there whichever command made it.
"""
