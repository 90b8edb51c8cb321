"""What each command of the table does, by its subject: cells, the state, sessions, what can be opened, leaving.

The main screen is above it, and calls what a key or the palette asks for.
Below are `desk`, which does it, and `dialogs`, which ask for what is missing.
"""
