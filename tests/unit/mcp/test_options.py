"""What a server is started with: which tools are meant."""

import os

import pytest

from pisces.cli.mcp_serving import serve
from pisces.environment.secret_names import OWN_TOKENS
from pisces.errors import InvalidCall
from pisces.mcp.options import ServerOptions, chosen_tools

USUAL = ("python", "notebook", "session")
ALL = (*USUAL, "bash", "read", "write", "edit", "eval")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ((), USUAL),
        (("", " , "), USUAL),
        (("bash,python",), ("python", "bash")),
        (("bash", "python"), ("python", "bash")),
        (("+eval", "+bash, +read"), (*USUAL, "bash", "read", "eval")),
        (("session,+bash",), ("session", "bash")),
        (("all",), ALL),
        (("+all",), ALL),
    ],
)
def test_names_are_those_tools_and_a_plus_adds_to_the_usual_ones(
    given: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    assert chosen_tools(given) == meant


def test_a_tool_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidCall, match=r"There is no tool 'hammer'\. Tools: python, notebook, session, bash, "):
        chosen_tools(["python,hammer"])


def test_no_child_of_a_server_inherits_our_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OWN_TOKENS:
        monkeypatch.setenv(name, "of-at-least-16-letters")
    left: list[str] = []

    def note_the_environment(_serving: object) -> int:
        left.extend(os.environ)
        return 0

    monkeypatch.setattr("pisces.cli.mcp_serving.run_until_stopped", note_the_environment)
    serve(None, ServerOptions())
    assert left
    assert OWN_TOKENS.isdisjoint(left)
