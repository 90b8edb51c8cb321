"""Sessions: who may use which kernel when, what happens when one dies, and how a call's cells run to a truthful end.

Above are the tools, which ask the pool for a session and run cells in it. Below are the kernel contract and the
output line; no session knows a process.
"""
