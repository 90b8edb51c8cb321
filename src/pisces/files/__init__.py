"""Files of the user's: read within bounds, written whole or not at all, by one writer at a time.

Above it are the tools that read and write, and notebooks; below it is bounded output. It knows bytes, lines and
versions of files, and nothing of who asks.
"""
