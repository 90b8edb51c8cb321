"""Side-by-side measurements of Pisces, of ipykernel and of a bare pipe: one command, results as JSON and as a table.

Above is `make bench`, which runs `python -m bench`. Below are the public library, run as a user would run it, and its
peers; nothing here reaches inside either.
"""
