"""One member of JSON with comments is set or removed, and every other character stays."""

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pisces.mcp.clients.jsonc import Node, parse
from pisces.mcp.clients.jsonc_edit import with_member, without_member
from pisces.mcp.clients.malformed import Malformed
from tests.unit.mcp.clients.jsonc_texts import OBJECTS, SERVERS, VALUES, laid_out

PATH = ("mcpServers", "pisces")
ENTRY = {"command": "/opt/a b/python", "args": ["-I", "// x"]}
CONFIGURATIONS = st.builds(lambda rest, servers: {**rest, "mcpServers": servers}, OBJECTS, SERVERS)


def value_of(text: str) -> Any:
    node = parse(text)
    return None if node is None else node.value


@given(drawn=laid_out(VALUES))
def test_a_value_is_read_whatever_stands_around_it(drawn: tuple[str, Any]) -> None:
    assert value_of(drawn[0]) == drawn[1]


@given(value=VALUES, at=st.integers(0, 200), indent=st.sampled_from([None, 1]))
def test_a_text_with_a_character_lost_is_taken_or_refused_as_by_a_strict_parser(
    value: Any, at: int, indent: int | None
) -> None:
    whole = json.dumps(value, indent=indent)
    text = whole[: at % len(whole)] + whole[at % len(whole) + 1 :]
    assume(text.strip() and "/" not in text and not re.search(r",\s*[}\]]", text))
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises(Malformed):
            parse(text)
    else:
        assert value_of(text) == wanted


@given(drawn=laid_out(CONFIGURATIONS))
def test_a_member_that_is_set_changes_that_member_alone(drawn: tuple[str, Any]) -> None:
    text, value = drawn
    wanted = copy.deepcopy(value)
    wanted["mcpServers"]["pisces"] = ENTRY
    assert value_of(with_member(text, PATH, ENTRY)) == wanted


@given(drawn=laid_out(OBJECTS.filter(lambda value: "mcpServers" not in value)))
def test_the_object_for_it_is_made_where_there_is_none(drawn: tuple[str, Any]) -> None:
    text, value = drawn
    assert value_of(with_member(text, PATH, ENTRY)) == {**value, "mcpServers": {"pisces": ENTRY}}


@given(drawn=laid_out(CONFIGURATIONS))
def test_a_member_that_is_removed_is_all_that_goes(drawn: tuple[str, Any]) -> None:
    text, value = drawn
    wanted = copy.deepcopy(value)
    had = wanted["mcpServers"].pop("pisces", None) is not None or "pisces" in value["mcpServers"]
    found = without_member(text, PATH)
    assert value_of(found) == wanted
    assert had or found == text


@given(drawn=laid_out(CONFIGURATIONS.filter(lambda value: "pisces" not in value["mcpServers"] and value["mcpServers"])))
def test_removing_what_was_added_gives_back_the_same_text(drawn: tuple[str, Any]) -> None:
    text = drawn[0]
    assert without_member(with_member(text, PATH, ENTRY), PATH) == text


@given(drawn=laid_out(CONFIGURATIONS.filter(lambda value: "pisces" in value["mcpServers"])))
def test_replacing_a_value_keeps_what_is_before_and_after_it(drawn: tuple[str, Any]) -> None:
    text = drawn[0]
    node = _at(text)
    found = with_member(text, PATH, ENTRY)
    assert found.startswith(text[: node.start])
    assert found.endswith(text[node.end :])
    assert len(found) >= len(text) - (node.end - node.start)


def _at(text: str) -> Node:
    node = parse(text)
    for key in PATH:
        assert node is not None
        member = node.member(key)
        assert member is not None
        node = member.node
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", '{\n  "s": {\n    "p": 1\n  }\n}\n'),
        ("// mine", '// mine\n{\n  "s": {\n    "p": 1\n  }\n}\n'),
        ("{}", '{\n  "s": {\n    "p": 1\n  }\n}'),
        ('{"s":{"a":2}}', '{"s":{"a":2,"p":1}}'),
        ('{"s": {"a": 2}}', '{"s": {"a": 2, "p": 1}}'),
        ('{\n\t"s": {}\n}\n', '{\n\t"s": {\n\t\t"p": 1\n\t}\n}\n'),
        ('{\r\n    "s": {\r\n        "a": 2\r\n    }\r\n}', None),
        ('{\n  "s": {\n    "a": 2, // two\n  },\n}', '{\n  "s": {\n    "a": 2, // two\n    "p": 1,\n  },\n}'),
        ('{\n  "s": {\n    "a": 2 // two\n  }\n}', '{\n  "s": {\n    "a": 2, // two\n    "p": 1\n  }\n}'),
    ],
    ids=["empty", "comment", "empty object", "minified", "one line", "tabs", "crlf", "trailing comma", "remark"],
)
def test_the_layout_of_the_file_is_followed(text: str, wanted: str | None) -> None:
    if wanted is None:
        wanted = text.replace("2\r\n", '2,\r\n        "p": 1\r\n')
    assert with_member(text, ("s", "p"), 1) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"s": {"a": 2, // two\n"p": 1}}', '{"s": {"a": 2 // two\n}}'),
        ('{"s": { // none\n"p": 1, "a": 2}}', '{"s": { // none\n "a": 2}}'),
    ],
    ids=["last", "first"],
)
def test_what_follows_a_member_that_is_removed_does_not_become_part_of_a_comment(text: str, wanted: str) -> None:
    assert without_member(text, ("s", "p")) == wanted


def test_of_two_members_of_one_name_the_last_counts_and_both_are_removed() -> None:
    text = '{"s": {"p": 1, "p": 2}}'
    assert value_of(with_member(text, ("s", "p"), 3)) == {"s": {"p": 3}}
    assert without_member(text, ("s", "p")) == '{"s": {}}'


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ('{"a" 1}', 1, 6, "`:` was expected, not '1'"),
        ('{\r\n  "a": 1\r\n  "b": 2\r\n}', 3, 3, "`,` or `}` was expected"),
        ('{"a": }', 1, 7, "a value was expected"),
        ('{"a": 1', 1, 8, "not the end of the file"),
        ("{} x", 1, 4, "nothing may follow"),
        ("{\n/* x", 2, 1, "this comment has no end"),
        ('{"a": "x\n"}', 1, 7, "no end on its line"),
        ("{a: 1}", 1, 2, "a name in double quotes"),
        ("[" * 300, 1, 202, "nested deeper"),
    ],
    ids=["colon", "comma", "value", "end", "rest", "comment", "text", "bare name", "depth"],
)
def test_a_broken_text_is_refused_with_its_place(text: str, line: int, column: int, what: str) -> None:
    with pytest.raises(Malformed) as error:
        with_member(text, PATH, ENTRY)
    assert (error.value.line, error.value.column) == (line, column)
    assert what in str(error.value)


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": null}', '{"mcpServers": []}'])
def test_servers_that_are_no_object_are_not_overwritten(text: str) -> None:
    with pytest.raises(Malformed, match="has to be an object"):
        with_member(text, PATH, ENTRY)
    assert without_member(text, PATH) == text
