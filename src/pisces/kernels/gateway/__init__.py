"""Kernels on a Jupyter server: one of our own for all processes of a user, or one that somebody else runs.

Above are the sessions, which see `local.LocalBackend` and `external.ExternalBackend`. Below is `kernels.jupyter`, which
makes a kernel of anything that carries messages. `transport` is what carries them here: REST for a kernel's life, a
websocket for its messages.
"""
