"""Reading artifacts: by lines, by search, and never more than fits."""

import tracemalloc
from pathlib import Path

import pytest

from pisces.errors import ArtifactError, InvalidCall
from pisces.output.artifact_text import READ_LIMIT, LineRange
from pisces.output.artifacts import ArtifactStore
from pisces.output.search import MATCH_LIMIT

MEBIBYTE = 1024 * 1024


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path)


def numbered(store: ArtifactStore, count: int, *, final_newline: bool = True) -> str:
    text = "".join(f"line {number}\n" for number in range(1, count + 1))
    return store.add_bytes("s", "python", (text if final_newline else text[:-1]).encode(), extension="log")


@pytest.mark.parametrize("final_newline", [True, False])
@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 3), (2, 2), (3, 5), (5, 5), (4, 99), (2, None), (1, None)])
def test_a_range_gives_just_those_lines(
    store: ArtifactStore, first: int, last: int | None, final_newline: bool
) -> None:
    artifact_id = numbered(store, 5, final_newline=final_newline)
    whole = store.read(artifact_id).splitlines(keepends=True)
    assert store.read(artifact_id, lines=LineRange(first, last)) == "".join(whole[first - 1 : last])


def test_ranges_far_into_a_large_file_are_found(store: ArtifactStore) -> None:
    artifact_id = numbered(store, 400_000)
    assert store.read(artifact_id, lines=LineRange(399_999, 400_000)) == "line 399999\nline 400000\n"


@pytest.mark.parametrize("final_newline", [True, False])
@pytest.mark.parametrize("first", [6, 7, 1000])
def test_a_range_past_the_end_says_how_many_lines_there_are(
    store: ArtifactStore, first: int, final_newline: bool
) -> None:
    artifact_id = numbered(store, 5, final_newline=final_newline)
    with pytest.raises(ArtifactError, match=rf"^Artifact 1 has 5 lines; line {first} is past its end\.$"):
        store.read(artifact_id, lines=LineRange(first, first + 10))


async def test_a_huge_artifact_is_not_read_whole_and_the_error_says_how_to_page(store: ArtifactStore) -> None:
    with store.new("s", "python") as writer:
        for _ in range(40):
            writer.write(b"x" * 1023 * 1024 + b"\n")
    tracemalloc.start()
    try:
        with pytest.raises(ArtifactError) as caught:
            store.read("1")
        found = await store.search("1", "y")
        part = store.read("1", lines=LineRange(3, 3))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "one read returns at most 8 MiB" in str(caught.value)
    assert "artifact://1:1-1000" in caught.value.hint
    assert found == "No line of artifact 1 matches 'y'."
    assert len(part) == 1023 * 1024 + 1
    assert peak < 10 * MEBIBYTE


def test_a_range_that_is_too_large_stops_and_says_where_to_go_on(store: ArtifactStore) -> None:
    line = b"x" * 999 + b"\n"
    store.add_bytes("s", "python", line * 10_000, extension="log")
    text = store.read("1", lines=LineRange(2, 9_990))
    assert len(text) < READ_LIMIT + 100
    complete = READ_LIMIT // 1000
    assert text.endswith(f"x\n[…stopped after 8 MiB: go on with artifact://1:{complete + 2}-9990…]")


def test_one_line_that_is_too_large_is_shown_in_part(store: ArtifactStore) -> None:
    store.add_bytes("s", "python", b"x" * (READ_LIMIT + 10), extension="log")
    text = store.read("1", lines=LineRange(1, 1))
    assert f"[…line 1 is longer than 8 MiB: search in it, or open the file {store.path('1')}…]" in text


async def test_a_search_gives_matching_lines_with_their_numbers(store: ArtifactStore) -> None:
    artifact_id = numbered(store, 30)
    assert (await store.search(artifact_id, r"1\d$")).splitlines()[0] == "10:line 10"
    assert await store.search(artifact_id, "line 2", lines=LineRange(3, 21)) == "20:line 20\n21:line 21"


async def test_a_search_that_finds_too_much_says_how_much_more_there_is(store: ArtifactStore) -> None:
    found = (await store.search(numbered(store, 1000), "line")).splitlines()
    assert len(found) == MATCH_LIMIT + 1
    assert found[-1] == "[…800 more matching lines: narrow the search, or search in a range of lines…]"


async def test_a_match_in_a_long_line_is_clamped(store: ArtifactStore) -> None:
    store.add_bytes("s", "python", b"x" * 3000 + b"\n", extension="log")
    assert await store.search("1", "x") == "1:" + "x" * 1000 + "[…2000 characters cut…]"


async def test_a_bad_expression_is_refused_with_its_text(store: ArtifactStore) -> None:
    numbered(store, 1)
    with pytest.raises(InvalidCall, match=r"^Not a regular expression: '\('"):
        await store.search("1", "(")


async def test_an_empty_artifact_can_be_read(store: ArtifactStore) -> None:
    store.add_bytes("s", "python", b"", extension="log")
    assert store.read("1") == ""
    assert store.read("1", lines=LineRange(1, 10)) == ""
    assert await store.search("1", "x") == "No line of artifact 1 matches 'x'."


def test_bytes_that_are_not_utf8_do_not_stop_a_reader(store: ArtifactStore) -> None:
    store.add_bytes("s", "python", b"a\xffb\n", extension="log")
    assert store.read("1") == "a�b\n"
