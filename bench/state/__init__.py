"""What keeping state costs: new sessions, checkpoints, crashes, undo and branch, and many sessions at once.

Above is `bench.__main__`, which runs each measurement in turn. Below are the `hosts`, programs that run Pisces or a
peer in a process of their own and print what they measured.
"""
