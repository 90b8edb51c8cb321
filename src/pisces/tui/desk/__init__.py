"""What the terminal UI works with, whatever it is shown with: calls of the host, journals that are followed.

The screens are above it, and those of the plain mode too. Nothing here knows textual.
Below are `host` and `journal`.
"""
