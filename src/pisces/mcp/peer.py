"""Who calls: which sessions are theirs, and which one they mean when they name none.

Nothing is kept for a connection. Over a pipe there is one client. Over HTTP a client is known by what each of its
requests says of it, and its sessions are its own for as long as it goes on calling (`python.idleTimeout`).
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec.structs import replace

from pisces.errors import InvalidCall
from pisces.tools.base import DEFAULT_SESSION

CLIENT_HEADER: Final = "pisces-client"
"""By this a client may say which one it is: the same in each of its requests, also after it has connected anew."""
SESSION_HEADER: Final = "mcp-session-id"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNNAMED: Final = "client"
_ID_SHOWN: Final = 8
_AGENT_IDS: Final = frozenset({"agentid", "clientid", "threadid", "conversationid", "sessionid"})
"""What clients call the id of an agent in `_meta`: `threadId`, `vscode.conversationId`, `ai.opencode/sessionID`."""


class Peer(msgspec.Struct, frozen=True):
    """One client."""

    owner: str
    """The name by which it holds its sessions."""
    default_session: str
    stays: bool
    """Whether its connection says how long it is there; else it holds its sessions by calling."""
    caller: str = ""
    """Which client, and which of its agents, as far as the request says that; empty if it says nothing."""


def peer_of(ctx: ServerRequestContext[Any, Any]) -> Peer:
    """The client behind a request. Raises `InvalidCall` for a name of its own that cannot be used."""
    peer = _client_of(ctx)
    agent = " ".join(_agent_ids(ctx.meta)) if ctx.meta else ""
    if not agent:
        return peer
    digest = hashlib.sha256(agent.encode("utf-8", "replace")).hexdigest()[:16]
    return replace(peer, caller=f"{peer.caller} {digest}".lstrip())


def _agent_ids(meta: Mapping[str, Any], *, nested: bool = False) -> Iterator[str]:
    """The ids of the agent that makes a request, from its `_meta` and from the objects in that."""
    for key, value in meta.items():
        if isinstance(value, dict) and not nested:
            yield from _agent_ids(value, nested=True)
        elif isinstance(value, str | int) and re.sub("[_-]", "", re.split("[./]", key)[-1]).lower() in _AGENT_IDS:
            yield f"{key}={value}"


def _client_of(ctx: ServerRequestContext[Any, Any]) -> Peer:
    if ctx.request is None:
        return Peer("mcp", DEFAULT_SESSION, stays=True, caller="mcp")  # Some clients give only their subagents an id.
    headers = ctx.request.headers
    if (given := headers.get(CLIENT_HEADER)) is not None:
        if _NAME.fullmatch(given) is None:
            raise InvalidCall(
                f"Wrong value of the header Pisces-Client: {given[:80]!r}",
                hint="It takes up to 64 letters, digits, dots, dashes and underscores.",
            )
        return _known(f"mcp {given}", given)
    program = re.sub(r"[^A-Za-z0-9._-]+", "-", program_of(ctx)).strip("-")[:64]
    name = program or _UNNAMED
    # Where there is no handshake nobody has given the client such an id, and the SDK does not look at it.
    shook_hands = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    if shook_hands and (connection := headers.get(SESSION_HEADER)) is not None:
        return _known(owner_of_connection(connection), f"{name}-{connection[:_ID_SHOWN]}")
    return _known(f"mcp client {name}", name) if program else Peer(f"mcp client {name}", name, stays=False)


def _known(owner: str, default_session: str) -> Peer:
    """A client that says which one it is."""
    return Peer(owner, default_session, stays=False, caller=owner)


def program_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """What the client behind a request calls itself, as in `claude-code`; empty if it does not say."""
    known = ctx.session.client_params
    return "" if known is None else known.client_info.name


def owner_of_connection(connection: str) -> str:
    """The owner of the sessions that were made over a connection with this id."""
    return f"mcp connection {connection}"
