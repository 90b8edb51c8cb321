"""Whole outputs are read by their numbers, and nothing else is."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import ArtifactError
from pisces.guest.prelude import artifacts
from pisces.guest.prelude.names import lines, output, read
from pisces.output.artifact_text import LineRange, line_parts
from pisces.output.artifacts import ArtifactStore
from tests.unit.guest.prelude.counterparts import each_raises

RECORDS = '{"name": "a", "sizes": [1, 2]}\n\n{"name": "b", "sizes": []}\n'


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArtifactStore:
    """A real store, whose folder this kernel knows."""
    monkeypatch.setenv("PI_ARTIFACTS_DIR", str(tmp_path / "artifacts"))
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


def test_an_output_that_was_too_large_has_the_true_numbers_of_its_lines(tmp_path: Path, store: ArtifactStore) -> None:
    with ArtifactStore(tmp_path / "artifacts", limit=4000).new("main", "python") as writer:
        for number in range(1, 2001):
            writer.write(b"line %d\n" % number)
    with pytest.raises(ArtifactError) as caught:
        store.read(writer.id, lines=LineRange(1000))
    first, last = map(int, re.findall(r"\d+", str(caught.value))[1:])
    with pytest.raises(ValueError, match=rf"^lines {first}-{last} of artifact 1 are missing: .* too large"):
        output(1, offset=first)

    def kept(offset: int, count: int | None) -> str:
        wanted = LineRange(offset, None if count is None else offset + count - 1)
        return b"".join(part for _, part in line_parts(store.path("1"), "1", wanted)).decode()

    assert output(1) == kept(1, None)
    for offset, limit in ((1, 2), (first - 1, 1), (first - 1, 2), (first - 1, None), (last + 1, 3), (1999, None)):
        assert output(1, offset=offset, limit=limit) == kept(offset, limit)
    assert output(1, offset=2001) == output(1, limit=0) == ""


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
def host(store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int]]]:
    """A kernel on another machine, whose connection to the host is a function; the questions that it asks."""
    asked: list[tuple[int, int]] = []

    def fetch(number: int, start: int) -> tuple[str, str, bytes]:
        asked.append((number, start))
        try:
            return store.piece("main", str(number), start, 4)
        except ArtifactError as error:
            raise LookupError(str(error)) from None

    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setenv("PI_ARTIFACTS_DIR", str(copies))
    artifacts.fetch_with(fetch)
    yield asked
    artifacts._host.clear()


def test_a_kernel_elsewhere_copies_from_the_host(store: ArtifactStore, host: list[tuple[int, int]]) -> None:
    with store.new("main", "python") as writer:
        writer.write("1\né\n".encode())
        number = int(writer.id)
        assert output(number) == read(f"artifact://{number}") == "1\né\n"
        assert host == [(number, 0), (number, 4), (number, 5), (number, 5)]
        writer.write(b"3\n")  # As a job does that runs on.
        assert output(number, offset=2) == "é\n3\n"


def test_a_kernel_elsewhere_copies_both_ends_of_an_output_that_was_too_large(
    store: ArtifactStore, host: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store._limit = 400
    with store.new("main", "python") as writer:
        for number in range(1, 201):
            writer.write(b"line %d\n" % number)
            if number in {20, 100}:  # It is read while it grows, too.
                output(int(writer.id))
    copied = output(int(writer.id))
    shown, last = copied.splitlines(), output(int(writer.id), offset=200)
    assert len(host) > 100
    monkeypatch.setenv("PI_ARTIFACTS_DIR", str(tmp_path / "artifacts"))
    artifacts._host.clear()
    # What was read earlier is kept here, so the copy has at least what the host still has.
    still_there = [line for line in output(int(writer.id)).splitlines() if not line.startswith("[…")]
    assert set(still_there) <= set(shown)
    assert (shown[0], shown[-1], last) == ("line 1", "line 200", "line 200\n")
    assert any(line.startswith("[…lines ") and "are missing" in line for line in shown)


def test_a_kernel_elsewhere_reads_outputs_of_its_own_session_only(
    store: ArtifactStore, host: list[tuple[int, int]]
) -> None:
    other = keep(store, "private", session="other")
    with pytest.raises(FileNotFoundError, match=rf"this session has no artifact {other}; .*bridge.url"):
        output(other)


@pytest.mark.usefixtures("host")
def test_a_thread_of_a_kernel_elsewhere_cannot_ask_the_host(store: ArtifactStore) -> None:
    number = keep(store, "one")
    with ThreadPoolExecutor() as threads, pytest.raises(RuntimeError, match="in the main thread"):
        threads.submit(output, number).result()


def test_a_kernel_that_knows_no_folder_and_no_host_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PI_ARTIFACTS_DIR", raising=False)
    with pytest.raises(FileNotFoundError, match="nowhere: PI_ARTIFACTS_DIR is not set"):
        output(3)
