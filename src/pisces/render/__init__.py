"""What a person sees of notebooks: cells and differences as text, with colours and pictures where a terminal has them.

The command line is above it, and brings the values and the place to write to.
Below are `notebooks`, for what a cell is, and `output`, which makes text of HTML and takes terminal control out.
"""
