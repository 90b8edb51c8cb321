"""One table of a TOML file is set or removed, and every other character stays."""

import tomllib
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pisces.mcp.clients.malformed import Malformed
from pisces.mcp.clients.toml_edit import parse, with_table, with_values, without_table

PATH = ("mcp_servers", "pisces")
ENTRY = {"command": '/opt/a "b"\\python\x7f', "args": ["-I", "#"], "tool_timeout_sec": 660}

_VALUES = st.sampled_from(
    ['"x"', "1", "[\n  1, # one\n  2,\n]", '"""\n[mcp_servers.pisces]\n"""', "'''\n# ' \n'''", '{ a = "]" }', '"#"']
)
_NAMES = st.sampled_from(["a", "b", '"c.d"', "'e'", "f . g", "pisces"])
_HEADERS = st.sampled_from(
    [
        "[x]",
        "[mcp_servers]",
        "[mcp_servers.other]",
        "[ mcp_servers . pisces ] # ours",
        "[mcp_servers.pisces.env]",
        '["mcp_servers"."pisces"]',
        "[[list]]",
        "[projects.'/a/b']",
    ]
)
_LINES = st.one_of(
    st.builds(lambda name, value: f"{name} = {value}", _NAMES, _VALUES),
    _HEADERS,
    st.sampled_from(["", "# a comment [x]", "  # \"'"]),
)
TEXTS = st.builds(lambda lines, end: "".join(line + end for line in lines), st.lists(_LINES), st.just("\n"))


def _valid(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
        raise


def _without_ours(values: dict[str, Any]) -> dict[str, Any]:
    servers = values.get("mcp_servers", {})
    rest = {key: value for key, value in servers.items() if key != "pisces"} if isinstance(servers, dict) else servers
    return {key: value for key, value in values.items() if key != "mcp_servers"} | (
        {"mcp_servers": rest} if rest else {}
    )


@given(text=TEXTS)
def test_a_table_that_is_set_changes_that_table_alone(text: str) -> None:
    wanted = _without_ours(_valid(text))
    wanted.setdefault("mcp_servers", {})["pisces"] = ENTRY
    found = with_table(text, PATH, ENTRY)
    assert parse(found) == wanted
    assert [line for line in text.split("\n") if line.startswith("# a comment")] == [
        line for line in found.split("\n") if line.startswith("# a comment")
    ]


@given(text=TEXTS)
def test_values_that_are_set_leave_the_rest_of_the_table(text: str) -> None:
    values = _valid(text)
    present = values.get("mcp_servers", {}).get("pisces")
    assume(isinstance(present, dict))
    new = {"a": [1], "command": "x"}
    found = with_values(text, PATH, new)
    values["mcp_servers"]["pisces"] = {**present, **new}
    assert parse(found) == values
    assert with_values(found, PATH, new) == found


def test_values_are_replaced_where_they_stand_and_tables_below_stay() -> None:
    text = '[mcp_servers.pisces]\n# mine\ncommand = "old"\nenabled = true\n\n[mcp_servers.pisces.env]\nA = "b"\n'
    found = with_values(text, PATH, {"command": "new", "args": ["x"]})
    assert found == text.replace('"old"', '"new"').replace("true\n", 'true\nargs = ["x"]\n')


@given(text=TEXTS)
def test_a_table_that_is_removed_is_all_that_goes(text: str) -> None:
    values = _valid(text)
    found = without_table(text, PATH)
    assert _without_ours(parse(found)) == _without_ours(values)
    assert "pisces" not in parse(found).get("mcp_servers", {})
    assert "pisces" in values.get("mcp_servers", {}) or found == text


@given(text=TEXTS)
def test_removing_what_was_added_gives_back_the_same_text(text: str) -> None:
    assume("pisces" not in _valid(text).get("mcp_servers", {}))
    assert without_table(with_table(text, PATH, ENTRY), PATH) == text


def test_a_table_is_replaced_where_it_stands() -> None:
    text = 'a = 1\n\n[mcp_servers.pisces]\ncommand = "old"\n\n# of b\n[mcp_servers.b]\nx = 1\n'
    found = with_table(text, PATH, {"command": "new"})
    assert found == text.replace("old", "new")


def test_line_ends_stay_those_of_the_file() -> None:
    found = with_table("a = 1\r\n", PATH, {"command": "x"})
    assert found == 'a = 1\r\n\r\n[mcp_servers.pisces]\r\ncommand = "x"\r\n'
    assert without_table(found, PATH) == "a = 1\r\n"


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\npisces = { command = "x" }\n',
        '[mcp_servers]\npisces.command = "x"\n',
        'mcp_servers.pisces.command = "x"\nmcp_servers.b.command = "y"\n',
    ],
    ids=["inline", "dotted", "dotted at the top"],
)
def test_every_form_of_the_table_that_is_a_statement_can_be_replaced(text: str) -> None:
    assert parse(with_table(text, PATH, ENTRY))["mcp_servers"]["pisces"] == ENTRY
    assert "pisces" not in parse(without_table(text, PATH)).get("mcp_servers", {})


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ('a = 1\nmcp_servers = { pisces = { command = "x" } }\n', 2, 1, "is given as one value"),
        ("[[mcp_servers.pisces]]\nx = 1\n", 1, 1, "is a list of tables"),
        ("a = 1\nb = \n", 2, None, "invalid value"),
        ("[a]\n[a]\n", 2, None, "declare"),
    ],
    ids=["inside a value", "list", "no value", "twice"],
)
def test_what_cannot_be_edited_is_refused_with_its_place(text: str, line: int, column: int | None, what: str) -> None:
    with pytest.raises(Malformed) as error:
        with_table(text, PATH, ENTRY)
    assert error.value.line == line
    assert column in {None, error.value.column}  # In which column an error is found differs among Pythons.
    assert what in str(error.value)
