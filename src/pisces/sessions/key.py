"""What makes two calls use the same kernel."""

import msgspec


class SessionKey(msgspec.Struct, frozen=True):
    """Two calls with the same key have the same session."""

    id: str
    cwd: str
    interpreter: str
    """What runs the code: a path, or where a gateway is and the kernelspec there."""
    backend: str = "native"
    """What kind of kernel: the same name on another backend is another session."""
    kernelspec: str = ""
    """The kernelspec that was asked for by its name; empty for the Python that is configured."""
