"""What a server is started with: which tools are meant."""

import pytest

from pisces.errors import InvalidCall
from pisces.mcp.options import chosen_tools

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
