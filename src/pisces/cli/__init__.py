"""The command line: what a person types, turned into calls, and what comes back, shown in a terminal.

Nobody imports it but the `pisces` command and `python -m pisces`. Below is the runtime; each command is a module that
is loaded only when it is asked for, and none of them decides anything that another front end would have to decide too.
"""
