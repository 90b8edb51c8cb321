"""What becomes of objects when a session goes back: with Pisces, and with Kishu.

Above is `bench.__main__`, which runs `measure`. Below are two programs in `bench.state.hosts`, one for each system,
which send every case of `cases` on its way, as `journey` has it. Kishu's list was read for its kinds only.
"""
