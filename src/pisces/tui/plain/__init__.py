"""The same without a screen: lines in, lines out, for screen readers and for terminals that know nothing else.

The command line is above it.
Below are `desk` and `render`.
"""
