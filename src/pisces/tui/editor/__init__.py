"""Where a person types: code in colours, with completion from the kernel and a search through what was typed before.

The app is above it, and runs what was typed.
Below is `desk`, which asks the kernel.
"""
