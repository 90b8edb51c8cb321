"""What a person sees: cells with their status and output, notices, notebooks, as rows for a terminal or as plain text.

The command line and the terminal UI are above it, and bring the values and the place to write to.
Below are `notebooks` and `journal`, for what a cell is, and `output`, which makes text of HTML and takes control out.
"""
