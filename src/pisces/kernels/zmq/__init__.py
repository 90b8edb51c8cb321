"""Jupyter kernels on this machine, without a server between: a process each, and its ZMQ sockets.

Above is `jupyter`, which makes events of the messages. Below are pyzmq and, on the other end of a socket,
`guest/tether.py`, which holds the process. What is installed (`kernelspecs`) can be asked without pyzmq.
"""
