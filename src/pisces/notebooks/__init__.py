"""Notebooks as files: read, edited without touching what was not asked for, shown as text, and run in a session.

Above are the tools and the command line; beside it are the sessions, whose runs it writes down.
Below are files that are written whole, and the outputs of cells as a notebook has them.
"""
