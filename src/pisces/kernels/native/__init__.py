"""The host's side of our own kernel: a supervisor process in the user's interpreter that forks kernels.

Above is the kernel contract. Below are `frames` and `order`, which know bytes and no process, and the guest, which
runs on the other side of the descriptors. docs/protocol.md describes the wire.
"""
