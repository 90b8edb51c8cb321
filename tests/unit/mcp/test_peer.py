"""Whose sessions a request means. The request is made up: only the few things that are read of it are there."""

from types import SimpleNamespace
from typing import Any

import pytest

from pisces.errors import InvalidCall
from pisces.mcp.peer import Peer, owner_of_connection, peer_of


def peer(
    program: str | None = "agent",
    headers: dict[str, str] | None = None,
    *,
    protocol: str = "2025-11-25",
    meta: dict[str, Any] | None = None,
) -> Peer:
    """The client of a request, over HTTP if it has headers."""
    known = None if program is None else SimpleNamespace(client_info=SimpleNamespace(name=program))
    request = None if headers is None else SimpleNamespace(headers=headers)
    session = SimpleNamespace(client_params=known)
    made: Any = SimpleNamespace(session=session, request=request, protocol_version=protocol, meta=meta)
    return peer_of(made)


def test_over_pipes_there_is_one_client_and_its_session_is_the_default() -> None:
    assert peer("claude-code") == peer(None) == Peer("mcp", "default", stays=True, caller="mcp")


def test_a_client_that_shook_hands_is_its_connection() -> None:
    one = peer("Some Agent", {"mcp-session-id": "0123456789abcdef"})
    other = peer("Some Agent", {"mcp-session-id": "ffff456789abcdef"})
    owner = owner_of_connection("0123456789abcdef")
    assert one == Peer(owner, "Some-Agent-01234567", stays=False, caller=owner)
    assert (other.owner, other.default_session) != (one.owner, one.default_session)


def test_a_client_without_a_connection_is_its_name() -> None:
    assert peer("agent", {}) == peer("agent", {})
    assert peer("agent", {}).owner != peer("other", {}).owner
    assert peer(None, {}).default_session == peer("§§", {}).default_session == "client"
    assert len(peer("x" * 1000, {}).default_session) == 64


def test_without_a_handshake_nobody_passes_for_another_connection() -> None:
    given = {"mcp-session-id": "0123456789abcdef"}
    assert peer("agent", given, protocol="2026-07-28") == peer("agent", {})


def test_a_client_that_says_which_one_it_is_is_that_one_however_it_connects() -> None:
    given = {"pisces-client": "mine"}
    assert peer("agent", given) == Peer("mcp mine", "mine", stays=False, caller="mcp mine")
    assert peer("agent", {**given, "mcp-session-id": "0123"}).owner == "mcp mine"


@pytest.mark.parametrize("name", ["", "client agent", "a/b", "../up", "x" * 65, "ä", "a\n"])
def test_a_name_that_could_be_taken_for_another_is_refused(name: str) -> None:
    with pytest.raises(InvalidCall, match="Wrong value of the header Pisces-Client"):
        peer("agent", {"pisces-client": name})


@pytest.mark.parametrize(
    "meta",
    [
        {"threadId": "one", "x-codex-turn-metadata": {"turn_id": "7"}},
        {"x-codex-turn-metadata": {"thread_id": "one"}},
        {"vscode.conversationId": "one", "vscode.requestId": "7"},
        {"ai.opencode/sessionID": "one"},
        {"clientId": "one"},
        {"agentId": 1},
        {"antigravity.google/conversation_id": "one"},
        {"example.com/agent-id": "one", "claudecode/toolUseId": "toolu_7"},
    ],
    ids=lambda meta: next(iter(meta)),
)
def test_an_agent_is_known_by_the_id_that_its_client_gives_it(meta: dict[str, Any]) -> None:
    (key, _), *others = meta.items()
    same = {**meta, "progress_token": 8, **{name: f"{value} more" for name, value in others}}
    other = {**meta, key: {"thread_id": "two"} if isinstance(meta[key], dict) else "two"}
    assert peer(meta=meta).caller == peer(meta=same).caller
    assert len({peer(meta=shown).caller for shown in (None, meta, other)}) == 3
    assert peer("agent", {}, meta=meta).caller not in ("", peer("other", {}, meta=meta).caller)


@pytest.mark.parametrize("meta", [None, {}, {"progress_token": 3}, {"claudecode/toolUseId": "x"}, {"threadId": {}}])
def test_who_says_nothing_of_itself_is_not_told_apart(meta: dict[str, Any] | None) -> None:
    assert (peer(meta=meta).caller, peer(None, {}, meta=meta).caller) == ("mcp", "")


def test_clients_over_http_are_told_apart_by_what_they_say_of_themselves() -> None:
    given = [{"pisces-client": "mine"}, {"mcp-session-id": "0123456789abcdef"}, {}]
    assert len({peer("agent", headers).caller for headers in given} - {""}) == 3


def test_an_id_of_any_length_takes_little_room() -> None:
    assert len(peer(meta={"threadId": "x" * 1_000_000}).caller) < 100
