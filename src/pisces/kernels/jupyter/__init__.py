"""Kernels that speak the Jupyter protocol, whatever carries it: messages in, events out.

Above are the backends `zmq` and `gateway`, which bring a `Transport` each. Below are the values of `model`. Nothing
here opens a socket; raw Jupyter messages go no further up than this.
"""
