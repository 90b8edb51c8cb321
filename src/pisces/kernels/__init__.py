"""Kernels: processes that run code and tell what happens as events.

Above are the sessions, which know only `base.Kernel`. Below are the wires of each backend, and the operating
system.
"""
