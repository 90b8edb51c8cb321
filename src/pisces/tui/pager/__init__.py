"""A whole output on a screen of its own, with search, however long it is.

The app is above it.
Below is `output`, which reads artifacts.
"""
