"""What happened in each session, written down as it happens, read again, and turned into notebooks.

Sessions above tell it of cells, of their output and of the state; tools and front ends read and export what is kept.
Below are the events of the model and the rules for names of files that artifacts follow too.
"""
