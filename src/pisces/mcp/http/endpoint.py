"""Where the server over HTTP listens, and by which names it may be called there."""

import errno
import ipaddress
import re
import socket
from typing import Final

import msgspec

from pisces.errors import InvalidCall
from pisces.mcp.http.token import Token

PATH: Final = "/mcp"
DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8787
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_HTTP: Final = 80
_IPV4: Final = 4
_HOST: Final = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
"""What the header `Host` can say."""
_BACKLOG: Final = 128
_ANOTHER_PORT: Final = "`--port` names another port; `--port 0` takes any that is free."
_NOT_HERE: Final = "`--host` takes an address of this machine; `0.0.0.0` is all of them."


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    token: Token
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    """0 is any that is free."""
    further_names: tuple[str, ...] = ()
    """Names by which requests may call us besides, with a port or for any."""

    def listen(self) -> "Listening":
        """Have the address. Raises `InvalidCall` when that cannot be, or when a name is none."""
        self._see_to_names()
        host = self.host.strip("[]")  # As addresses have it, around one of IPv6.
        try:
            found = socket.getaddrinfo(host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise InvalidCall(f"There is no address of the name {self.host!r}", hint=str(error)) from error
        family, kind, protocol, _, address = found[0]
        opened: socket.socket | None = None
        try:
            opened = socket.socket(family, kind, protocol)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(address)
            opened.listen(_BACKLOG)
            opened.setblocking(False)
        except OSError as error:
            if opened is not None:
                opened.close()
            raise InvalidCall(
                f"Nobody can listen on port {self.port} of {self.host}: {error.strerror}",
                hint=_NOT_HERE if error.errno == errno.EADDRNOTAVAIL else _ANOTHER_PORT,
            ) from error
        return Listening(opened, self)

    def _see_to_names(self) -> None:
        for name in self.further_names:
            if _HOST.fullmatch(name) is None:
                raise InvalidCall(
                    f"No request can call this server {name!r}",
                    hint="`--allow-host` takes a name or an address, with a port or without: `box`, `box:443`, `[::1]`",
                )


class Listening:
    """The address, once it is ours."""

    def __init__(self, opened: socket.socket, endpoint: Endpoint) -> None:
        self.socket = opened
        self.token = endpoint.token
        self.port: int = opened.getsockname()[1]
        self._endpoint = endpoint
        self._bound = ipaddress.ip_address(opened.getsockname()[0].partition("%")[0])

    def close(self) -> None:
        """Give the address up."""
        self.socket.close()

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine reach it."""
        return self._bound.is_loopback

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens on all addresses of this machine; then none of them is its name."""
        return self._bound.is_unspecified

    @property
    def url(self) -> str:
        """Where clients of this machine find it."""
        here = "127.0.0.1" if self._bound.version == _IPV4 else "[::1]"
        return f"http://{self._with_port(here if self.is_everywhere else self._name)}{PATH}"

    @property
    def names(self) -> frozenset[str]:
        """What the header `Host` of a request may say. By any other name, it is a web page whose own leads here."""
        ours = set(_LOOPBACK) if self.is_local or self.is_everywhere else set()
        if not self.is_everywhere:
            ours.add(self._name)
        names = {self._with_port(name) for name in ours} | (ours if self.port == _HTTP else set())
        for name in self._endpoint.further_names:
            names |= {name, self._with_port(name)}
        return frozenset(name.lower() for name in names)

    @property
    def _name(self) -> str:
        host = self._endpoint.host
        return f"[{host}]" if ":" in host and not host.startswith("[") else host

    def _with_port(self, name: str) -> str:
        return f"{name}:{self.port}"
