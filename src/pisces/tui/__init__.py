"""The terminal UI: a history of cells, an editor, panels and a notebook, for the person beside the agent.

The command line is above it, and starts it; `plain` does the same without a screen, for those who listen to it.
Below are `host`, in which its cells run, `journal`, which tells what happened in any session, and `render`.
"""
