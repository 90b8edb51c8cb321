"""The tool bridge: code in a cell calls tools of the host, by HTTP on the loopback address, while the cell runs.

Above are `sessions`, which open it for the time of one cell, and `tools`, which carry the calls out. Below is nothing
of ours: it gets what carries a call out as an object, and knows no tool.
"""
