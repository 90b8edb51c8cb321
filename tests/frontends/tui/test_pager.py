"""The pager with keys in and the screen out: long files, long lines, searches, files that grow, files that are gone."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import psutil
import pytest
from textual.app import App
from textual.events import Key

from pisces.output.artifact_file import ArtifactWriter
from pisces.output.artifacts import ArtifactStore
from pisces.tui.app import PiscesApp
from pisces.tui.pager.screen import PagerScreen
from pisces.tui.pager.search import Search
from pisces.tui.pager.view import PagerView
from tests.fakes.screens import Screen


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def _written(store: ArtifactStore, text: str) -> str:
    return store.add_bytes("s", "python", text.encode(), extension="log")


@asynccontextmanager
async def _pager(pager: PagerScreen, *, size: tuple[int, int] = (60, 12)) -> AsyncIterator[Screen]:
    app = App[int]()
    async with app.run_test(size=size) as pilot:
        await app.push_screen(pager)
        yield Screen(cast("PiscesApp", app), pilot)


async def _search(seen: Screen, pattern: str) -> None:
    await seen.pilot.press("slash")
    await seen.type(pattern)
    await seen.pilot.press("enter")


async def test_one_moves_through_a_long_text_as_in_less(store: ArtifactStore) -> None:
    text = "".join(f"row {number}\n" for number in range(1, 20_001))
    async with _pager(PagerScreen(store, _written(store, text))) as seen:
        await seen.until("line 1-10 of 20,000")
        await seen.pilot.press("G")
        await seen.until("row 20000")
        await seen.until("end")
        await seen.pilot.press("b")
        await seen.until("row 19982")
        await seen.pilot.press("colon", *"777", "enter")
        await seen.until("line 777-786")
        await seen.pilot.press("g", "space", "down")
        await seen.until("line 11-20")
        await seen.pilot.press("colon", *"99999", "enter")
        await seen.until("There are 20,000 lines")


async def test_a_pattern_is_found_counted_and_marked(store: ArtifactStore) -> None:
    text = "".join(f"row {number} {'needle' if number % 500 == 0 else ''}\n" for number in range(1, 5001))
    async with _pager(PagerScreen(store, _written(store, text))) as seen:
        await _search(seen, "need.e")
        await seen.until("10 found")
        await seen.until("line 500-")
        await seen.pilot.press("n")
        await seen.until("line 1000-")
        await seen.pilot.press("N")
        await seen.until("line 500-")
        await seen.pilot.press("N")
        await seen.until("No line before this one")
        await _search(seen, "(")
        await seen.until("Not a regular expression")
        await _search(seen, "Needle")
        await seen.until("not found")


async def test_what_is_typed_right_behind_the_slash_is_the_pattern(store: ArtifactStore) -> None:
    """Keys come all at once from a connection that has stood still."""
    text = "".join(f"row {number}\n" for number in range(1, 1001))
    async with _pager(PagerScreen(store, _written(store, text))) as seen:
        await seen.until("line 1-10 of 1,000")
        for character in "/gl|70/?0":
            seen.app.post_message(Key("slash" if character == "/" else character, character))
        seen.app.post_message(Key("enter", "\r"))
        await seen.until("line 700-")


async def test_a_line_without_end_is_shown_in_parts_and_wrapped_or_shifted(store: ArtifactStore) -> None:
    async with _pager(PagerScreen(store, _written(store, "start" + "x" * 3_000_000 + "finish")), size=(90, 12)) as seen:
        await seen.until("startxxx")
        await _search(seen, "finish")
        await seen.until("1 found")
        await seen.until("finish")
        await seen.pilot.press("g", "w")
        await seen.until("wrapped")
        await seen.until("startxxx")
        await seen.pilot.press("G")
        await seen.until("finish")
        await seen.pilot.press("g", "w", "right")
        await seen.until("column 17")


async def test_an_artifact_that_grows_is_followed(store: ArtifactStore) -> None:
    with store.new("s", "python") as writer:
        _say(writer, "begun\n")
        async with _pager(PagerScreen(store, writer.id)) as seen:
            await seen.until("begun")
            await seen.pilot.press("F")
            _say(writer, "".join(f"more {number}\n" for number in range(1000)))
            await seen.until("more 999")
            await _search(seen, "later")
            await seen.until("not found")
            _say(writer, "later\n")
            await seen.until("1 found")


async def test_all_that_is_added_to_an_open_artifact_is_searched(store: ArtifactStore) -> None:
    with store.new("s", "python") as writer:
        _say(writer, "needle\n")
        async with _pager(PagerScreen(store, writer.id)) as seen:
            await _search(seen, "needle")
            await seen.until(lambda: "1 found" in seen.text and "searching" not in seen.text)
            _say(writer, ("filler\n" * 1500 + "needle\n") * 60)  # Ten pages of the file.
            await seen.until("61 found")


async def test_what_is_added_as_a_search_comes_to_its_end_is_searched(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_read, may_end, go_on = asyncio.Event(), asyncio.Event(), Search.go_on

    async def end_late(search: Search, *at: int) -> None:
        await go_on(search, *at)
        search.running = True
        all_read.set()
        await may_end.wait()
        search.running = False

    monkeypatch.setattr(Search, "go_on", end_late)
    with store.new("s", "python") as writer:
        _say(writer, "needle\n")
        async with _pager(PagerScreen(store, writer.id)) as seen:
            await _search(seen, "needle")
            await seen.until(all_read.is_set)
            _say(writer, "needle\n")
            await seen.until("of 2")
            may_end.set()
            await seen.until("2 found")


async def test_a_search_that_was_given_up_is_not_begun_again_by_what_is_added(store: ArtifactStore) -> None:
    with store.new("s", "python") as writer:
        _say(writer, "a" * 60 + "!\n")
        async with _pager(PagerScreen(store, writer.id), size=(90, 12)) as seen:
            await _search(seen, "(a+)+$")
            await seen.until("searching")
            await seen.pilot.press("escape")
            await seen.until("broke off")
            _say(writer, "more\n")
            await seen.until("of 2")
            await seen.pilot.press("q")
            await seen.until(lambda: not isinstance(seen.app.screen, PagerScreen))


async def test_matches_on_the_last_screenful_are_visited_one_after_the_other(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, go_to = list[int](), PagerView.go_to

    def note(view: PagerView, row: int) -> None:
        lines.append(row + 1)
        go_to(view, row)

    monkeypatch.setattr(PagerView, "go_to", note)
    text = "".join(f"row {number} {'needle' if number in (80, 85, 95) else ''}\n" for number in range(1, 101))
    async with _pager(PagerScreen(store, _written(store, text)), size=(60, 32)) as seen:
        await seen.until("of 100")
        await _search(seen, "needle")
        await seen.until(lambda: lines == [80])
        await seen.pilot.press("n", "n", "n")
        await seen.until("No line after this one")
        assert lines == [80, 85, 95]
        await seen.pilot.press("n", "N", "N", "N")
        await seen.until("No line before this one")
        assert lines == [80, 85, 95, 85, 80]
        await seen.pilot.press("colon", *"90", "enter", "n")
        await seen.until(lambda: lines[5:] == [90, 95])
        await seen.pilot.press("g", "n")
        await seen.until(lambda: lines[7:] == [1, 80])


async def test_a_number_without_end_is_no_line(store: ArtifactStore) -> None:
    """Python refuses to read a number of so many digits."""
    async with _pager(PagerScreen(store, _written(store, "row\n" * 50))) as seen:
        await seen.until("of 50")
        await seen.pilot.press("l")
        await seen.type("9" * 5000)
        await seen.pilot.press("enter")
        await seen.until("Not the number of a line")
        await seen.pilot.press("l", *"7", "enter")
        await seen.until("line 7-")


async def test_what_cannot_be_shown_is_said_with_what_to_do(store: ArtifactStore) -> None:
    async with _pager(PagerScreen(store, "77")) as seen:
        await seen.until("not found")
        await seen.until("run the cell again")
        await seen.pilot.press("slash", "G", "n", "q")
        await seen.until(lambda: not isinstance(seen.app.screen, PagerScreen))
    drawing = store.add_bytes("s", "python", b"<svg/>", extension="svg")
    async with _pager(PagerScreen(store, drawing), size=(200, 12)) as seen:
        await seen.until("is a drawing (SVG)")
        await seen.until(str(store.path(drawing)))


async def test_an_artifact_that_is_pruned_meanwhile_can_be_read_on(store: ArtifactStore) -> None:
    artifact = _written(store, "".join(f"row {number}\n" for number in range(50_000)))
    async with _pager(PagerScreen(store, artifact)) as seen:
        await seen.until("row 1")
        store.path(artifact).unlink()
        await seen.pilot.press("G")
        await seen.until("row 49999")


async def test_a_search_without_end_leaves_the_keys_alone_and_can_be_given_up(store: ArtifactStore) -> None:
    text = "a" * 60 + "!\n" + "row\n" * 100
    async with _pager(PagerScreen(store, _written(store, text))) as seen:
        await _search(seen, "(a+)+$")
        await seen.until("searching")
        await seen.pilot.press("down")
        await seen.until("line 2-")
        await seen.pilot.press("escape")
        await seen.until("broke off")
        await seen.pilot.press("escape")
        await seen.until(lambda: not isinstance(seen.app.screen, PagerScreen))


async def test_any_text_is_shown_on_a_screen_of_twenty_columns() -> None:
    text = "\x1b[2J\u202eabc\u0301\u0301\u0301 漢字漢字漢字漢字漢字漢字漢字\t|\n" * 5
    async with _pager(PagerScreen.of_text("a \x1b[31mtitle", text), size=(20, 6)) as seen:
        await seen.until("漢字")
        assert "\x1b" not in seen.text
        assert "a title" in seen.text
        await seen.pilot.press("w", "G", "f1")
        await seen.pilot.resize_terminal(8, 4)
        await seen.pilot.press("g")


def _say(writer: ArtifactWriter, text: str) -> None:
    writer.write(text.encode())


@pytest.mark.heavy
async def test_a_hundred_megabytes_are_searched_in_seconds_with_little_memory(store: ArtifactStore) -> None:
    with store.new("s", "python") as writer:
        for block in range(1000):
            writer.write(b"".join(b"%0100d\n" % number for number in range(block * 1000, block * 1000 + 1000)))
    before = psutil.Process().memory_info().rss
    async with _pager(PagerScreen(store, writer.id), size=(120, 12)) as seen:
        began = time.monotonic()
        await _search(seen, "99999[89]$")
        await seen.until("2 found")
        assert time.monotonic() - began < 15  # It takes 1 to 2.
        await seen.until("of 1,000,000 ")
        assert psutil.Process().memory_info().rss - before < 50 << 20


async def test_an_artifact_that_was_too_large_shows_both_ends_with_the_true_numbers(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "artifacts", limit=400_000)
    with store.new("s", "python") as writer:
        for number in range(1, 100_001):
            writer.write(b"row %d\n" % number)
        async with _pager(PagerScreen(store, writer.id), size=(100, 12)) as seen:
            await seen.until("line 1-10 of 100,000")
            await seen.pilot.press("colon", *"50000", "enter")
            await seen.until("is missing: the output was too large to be kept whole")
            await seen.pilot.press("colon", *"99990", "enter")
            await seen.until("line 99990-99999 of 100,000")
            await seen.until("row 99990")
            await seen.pilot.press("g")
            await _search(seen, "row 99985$")
            await seen.until("1 found")
            await seen.until("line 99985-")
            await seen.pilot.press("F")
            _say(writer, "row 100001\n")
            await seen.until("row 100001")
            for number in range(100_002, 200_001):
                writer.write(b"row %d\n" % number)
            await seen.until("The output goes on in another file: open it again to see its end.")
