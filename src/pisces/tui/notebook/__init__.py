"""A notebook on a screen of its own: its cells are edited, run in the session's kernel, and saved.

The app is above it.
Below are `notebooks` and `desk`.
"""
