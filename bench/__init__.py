"""Side-by-side measurements of Pisces, of ipykernel and of the bare thing: one command, results as JSON and as a table.

Above is `make bench`, which runs `python -m bench`. Below are the public library, run as a user would run it, and its
peers; nothing here reaches inside either, but for the one figure that only a kernel itself has.
"""
