"""The history of a session on the screen: one item for each cell and for each thing that became of the state.

The app is above it. Thousands of cells cost what a screenful costs.
Below are `journal`, which tells what happened, and `render`, which paints it.
"""
