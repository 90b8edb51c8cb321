"""What stands beside the history: the variables, the sessions and their jobs.

The app is above it.
Below is `desk`, which knows both.
"""
