"""What it costs to edit, read and run a notebook, beside nbformat and nbclient.

Above is `bench.__main__`, which runs each measurement in turn. Below are `ours`, a program with the public library, and
`theirs`, which runs in the interpreter that has nbformat and nbclient and imports nothing of ours but `samples`.
"""
