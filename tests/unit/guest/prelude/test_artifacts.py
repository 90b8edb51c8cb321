"""Whole outputs are read by their numbers, and nothing else is."""

import json
from pathlib import Path
from typing import Any

import pytest

from pisces.guest.prelude import host_tools
from pisces.guest.prelude.names import lines, output, read
from pisces.output.artifacts import ArtifactStore
from tests.unit.guest.prelude.counterparts import each_raises

RECORDS = '{"name": "a", "sizes": [1, 2]}\n\n{"name": "b", "sizes": []}\n'


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArtifactStore:
    """A real store, whose folder this kernel knows."""
    monkeypatch.setenv("PI_ARTIFACTS_DIR", str(tmp_path / "artifacts"))
    monkeypatch.delenv("PI_TOOL_BRIDGE_URL", raising=False)
    return ArtifactStore(tmp_path / "artifacts")


def keep(store: ArtifactStore, content: str | bytes, *, session: str = "main") -> int:
    data = content.encode() if isinstance(content, str) else content
    return int(store.add_bytes(session, "python", data, extension="log"))


def test_an_output_is_given_whole_or_by_lines(store: ArtifactStore, events: list[dict[str, Any]]) -> None:
    number = keep(store, "1\n2\r\n3\n")
    assert output(number) == "1\n2\r\n3\n"
    assert output(str(number), offset=2, limit=1) == "2\r\n"
    assert output(f"artifact://{number}", offset=3) == "3\n"
    assert output(number, limit=0) == output(number, offset=9) == ""
    assert events[0] == {"op": "output", "ids": [str(number)], "count": 1, "chars": 7}


def test_several_are_given_under_headings(store: ArtifactStore, events: list[dict[str, Any]]) -> None:
    first, second = keep(store, "one\n"), keep(store, "two", session="other")
    assert output(first, second) == f"==> artifact://{first} <==\none\n\n==> artifact://{second} <==\ntwo\n"
    assert events == [{"op": "output", "ids": [str(first), str(second)], "count": 2, "chars": 7}]


def test_json_is_given_as_values(store: ArtifactStore) -> None:
    whole, records = keep(store, '\n{"a": [1, null, "é"]}\n'), keep(store, RECORDS)
    expected = [{"name": "a", "sizes": [1, 2]}, {"name": "b", "sizes": []}]
    assert output(whole, format="json") == {"a": [1, None, "é"]}
    assert output(records, format="json") == expected
    assert output(records, format="json", offset=3) == expected[1]
    assert output(whole, records, format="json") == [{"a": [1, None, "é"]}, expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (".", {"a": {"b c": [10, {"d": "x"}]}, "e.f": None, "g-h": 1}),
        ("", {"a": {"b c": [10, {"d": "x"}]}, "e.f": None, "g-h": 1}),
        ('.a["b c"][0]', 10),
        ('.a["b c"][-1].d', "x"),
        ('a["b c"][1].d', "x"),
        ('["a"].["b c"].[1]["d"]', "x"),
        ('."e.f"', None),
        ('["e.f"]', None),
        (".g-h", 1),
        ('."\\u0061"."b c"[ 0 ]', 10),
    ],
)
def test_a_query_leads_to_a_part(store: ArtifactStore, query: str, expected: Any) -> None:
    number = keep(store, json.dumps({"a": {"b c": [10, {"d": "x"}]}, "e.f": None, "g-h": 1}))
    assert output(number, format="json", query=query) == expected
    shown = output(number, query=query)
    assert shown == (expected if isinstance(expected, str) else json.dumps(expected, indent=1))


def test_a_query_goes_into_lines_of_json_and_into_several(store: ArtifactStore) -> None:
    number = keep(store, RECORDS)
    assert output(number, format="json", query="[1].name") == "b"
    assert (
        output(number, number, query="[0].name")
        == f"==> artifact://{number} <==\na\n\n==> artifact://{number} <==\na\n"
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (".rows[3]", r"has no \.rows\[3\]: \.rows is a list of 2"),
        (".rows[0].nam", r"has no \.rows\[0\]\.nam: \.rows\[0\] has the keys name"),
        (".rows.name", r"has no \.rows\.name: \.rows is a list of 2"),
        ("[0]", r"has no \[0\]: \. is an object with the keys rows"),
        (".rows[1].x", r"\.rows\[1\] has no keys"),
        (".rows[0].name.x", r'\.rows\[0\]\.name is the value "é"'),
        ('.rows[0]["a b"]', r'has no \.rows\[0\]\["a b"\]'),
    ],
)
def test_where_a_query_ends_is_named(store: ArtifactStore, query: str, words: str) -> None:
    number = keep(store, '{"rows": [{"name": "é"}, {}]}')
    with pytest.raises(LookupError, match=f"artifact://{number} .*{words}"):
        output(number, query=query)


@pytest.mark.parametrize(
    "query", [".a[", ".a[x]", "..a", ".a b", '["a"', ".a.", '["\\q"]', "[1.5]", "[]", ".[]", '."a']
)
def test_a_query_that_cannot_be_read_is_refused(store: ArtifactStore, query: str) -> None:
    number = keep(store, '{"a": [1]}')
    with pytest.raises(ValueError, match=r"the query .* cannot be read from"):
        output(number, query=query)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("plain words", "is no JSON: Expecting value: line 1 column 1"),
        ('{"a": 1}\n{"a": \n', "as lines of JSON, line 2: "),
        ("", "is no JSON: it is empty"),
    ],
)
def test_what_is_no_json_is_told(store: ArtifactStore, content: str, words: str) -> None:
    number = keep(store, content)
    with pytest.raises(ValueError, match=f"artifact://{number} is no JSON") as caught:
        output(number, format="json")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "number",
    ["../../etc/passwd", "../1", "1/../2", "", "-1", "1.python.log", "*", "٣", "1" * 19, "artifact://", "artifact://x"],
)
def test_what_is_no_number_leads_nowhere(store: ArtifactStore, tmp_path: Path, number: str) -> None:
    keep(store, "one\n")
    (tmp_path / "1.python.log").write_text("a secret", encoding="utf-8")
    with pytest.raises(ValueError, match="an artifact is named by a number, such as 3"):
        output(number)


@pytest.mark.parametrize("number", [None, 1.0, True, b"1", -1, [1]])
def test_what_is_no_number_at_all_is_refused(store: ArtifactStore, number: Any) -> None:
    keep(store, "one\n")
    with pytest.raises(ValueError, match="an artifact is named by a number"):
        output(number)


def test_one_that_is_not_there_is_told_with_those_that_are(store: ArtifactStore) -> None:
    each_raises(FileNotFoundError, "there is no artifact 7; there are: none", lambda: output(7))
    keep(store, "one")
    keep(store, "two")
    each_raises(FileNotFoundError, "there is no artifact 7; there are: 2, 1 ", lambda: output(7), lambda: output(1, 7))


def test_what_is_asked_wrongly_is_refused(store: ArtifactStore) -> None:
    number = keep(store, "{}")
    query: Any = 3
    each_raises(ValueError, r"output\(\) needs the number of an artifact", output)
    each_raises(ValueError, "format is 'raw' or 'json', not 'yaml'", lambda: output(number, format="yaml"))
    each_raises(ValueError, "offset is 1 or more", lambda: output(number, offset=0))
    each_raises(ValueError, "limit is 0 or more", lambda: output(number, limit=-1))
    each_raises(TypeError, "query is a text", lambda: output(number, query=query))


def test_bytes_that_are_no_text_are_replaced_as_in_results(store: ArtifactStore) -> None:
    assert output(keep(store, b"a\xff\0b\n")) == "a\ufffd\0b\n"


def test_reading_an_address_gives_the_same(store: ArtifactStore) -> None:
    number = keep(store, "1\n2\n3\n4\n")
    address = f"artifact://{number}"
    assert (read(address), read(address, 2, 2), lines(address, 4)) == ("1\n2\n3\n4\n", "2\n3\n", "4\n")
    assert (read(f"{address}:2-3"), read(f"{address}:3-"), read(f"{address}:2")) == ("2\n3\n", "3\n4\n", "2\n")
    assert read(f"{address}:2-4", 2, 1) == "3\n"
    for span in ("", "0", "3-2", "x", "1-2-3"):
        with pytest.raises(ValueError, match="has no range of lines"):
            read(f"{address}:{span}")
    with pytest.raises(ValueError, match="an artifact is named by a number"):
        read("artifact://../../etc/passwd")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of a host that reads artifacts; the bridge itself has tests of its own."""
    paths: list[str] = []

    def reading(*, path: str) -> str:
        paths.append(path)
        return f"{path}\nsecond"

    monkeypatch.setenv("PI_TOOL_BRIDGE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(host_tools, "HostTool", lambda name: {"read": reading}[name])
    return paths


@pytest.mark.parametrize("folder", ["", "/no/such/folder"])
def test_a_kernel_elsewhere_asks_the_host(folder: str, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_ARTIFACTS_DIR", folder)
    assert output(3) == "artifact://3\nsecond"
    output(3, offset=2)
    output(3, offset=2, limit=2)
    assert output(3, limit=0) == ""
    assert read("artifact://4") == "artifact://4\nsecond"
    assert asked == ["artifact://3", "artifact://3:2-", "artifact://3:2-3", "artifact://4"]


def test_the_host_is_not_asked_for_what_is_not_there(store: ArtifactStore, asked: list[str]) -> None:
    keep(store, "one")
    with pytest.raises(FileNotFoundError, match="there is no artifact 7"):
        output(7)
    assert asked == []


def test_a_kernel_that_knows_no_folder_and_no_host_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PI_TOOL_BRIDGE_URL", raising=False)
    monkeypatch.delenv("PI_ARTIFACTS_DIR", raising=False)
    with pytest.raises(FileNotFoundError, match="nowhere: PI_ARTIFACTS_DIR is not set"):
        output(3)
