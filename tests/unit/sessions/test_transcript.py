"""What cells say, as events, and what becomes of it in the text and beside it."""

import errno
from pathlib import Path

import pytest

from pisces.kernels.memory_script import Step
from pisces.model.events import ClearOutput, Display, Error, Result, Status, Stream
from pisces.model.results import ToolResult
from pisces.output.artifacts import ArtifactStore
from pisces.sessions.transcript import (
    MAX_IMAGE_BYTES,
    MAX_IMAGES,
    MAX_JSON_OUTPUTS,
    MAX_STATUS_BYTES,
    MAX_STATUS_EVENTS,
)
from tests.fakes.runtimes import call, details, scripted_runtime
from tests.unit.output.pictures import chunk, encoded, png

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def out(text: str) -> Stream:
    return Stream("stdout", text)


async def run(folder: Path, *cells: list[Step]) -> ToolResult:
    script = {str(number): steps for number, steps in enumerate(cells)}
    async with scripted_runtime(script, folder) as runtime:
        return await call(runtime, list(script))


async def test_an_error_begins_a_line_of_its_own(tmp_path: Path) -> None:
    result = await run(tmp_path, [out("no newline"), Error("E", "x", ("Traceback", "E: x"))])
    assert result.text.startswith("no newline\nTraceback\nE: x\n")


async def test_a_value_begins_a_line_of_its_own(tmp_path: Path) -> None:
    assert (await run(tmp_path, [out("no newline"), Result({"text/plain": "1"})])).text == "no newline\n1"


async def test_cells_never_run_into_each_others_lines(tmp_path: Path) -> None:
    result = await run(tmp_path, [out("a")], [out("b")], [])
    assert result.text == "[1/3]\na\n[2/3]\nb\n[3/3] (ok)"


async def test_a_sequence_that_is_split_between_the_streams_harms_neither(tmp_path: Path) -> None:
    result = await run(tmp_path, [out("a\x1b[3"), Stream("stderr", "err "), out("1mb")])
    assert result.text == "aerr b"


async def test_what_a_cell_clears_is_gone_and_the_cells_before_it_stay(tmp_path: Path) -> None:
    steps: list[Step] = [out("old\n"), Display({"application/json": 1}), ClearOutput(), out("new\n")]
    result = await run(tmp_path, [out("first\n")], steps)
    assert result.text == "[1/2]\nfirst\n[2/2]\nnew"
    assert details(result).json_outputs == []
    assert [record.output for record in details(result).cells] == ["first\n", "new\n"]


async def test_clearing_with_wait_takes_effect_with_the_next_output(tmp_path: Path) -> None:
    assert (await run(tmp_path, [out("old\n"), ClearOutput(wait=True)])).text == "old"
    assert (await run(tmp_path, [out("old\n"), ClearOutput(wait=True), out("new\n")])).text == "new"


async def test_an_updated_picture_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    first = Display({"image/png": PIXEL, "text/plain": "old"}, display_id="a")
    other = Display({"image/png": PIXEL, "text/plain": "other"})
    update = Display({"image/png": PIXEL, "text/plain": "new"}, display_id="a", update=True)
    result = await run(tmp_path, [first, other, update, update])
    assert len(details(result).images) == 2
    assert result.text == "old\nother\nnew"


async def test_an_update_replaces_the_json_that_it_updates(tmp_path: Path) -> None:
    def shown(value: int, *, update: bool, name: str | None = "a") -> Display:
        return Display({"application/json": value}, display_id=name, update=update)

    first, other = shown(1, update=False), shown(9, update=False, name=None)
    result = await run(tmp_path, [first, other, shown(2, update=True), shown(3, update=True)])
    assert details(result).json_outputs == [3, 9]
    assert details(await run(tmp_path, [first, first])).json_outputs == [1, 1]


async def test_what_was_cleared_does_not_come_back_as_an_update(tmp_path: Path) -> None:
    first = Display({"text/plain": "old"}, display_id="a")
    update = Display({"text/plain": "new", "application/json": 1}, display_id="a", update=True)
    result = await run(tmp_path, [first, update, ClearOutput(), out("after\n")])
    assert (result.text, details(result).json_outputs) == ("after", [])


async def test_a_drawing_is_kept_as_an_artifact(tmp_path: Path) -> None:
    result = await run(tmp_path, [Display({"image/svg+xml": "<svg/>", "text/plain": "<drawing>"})])
    (image,) = details(result).images
    assert (image.mime_type, image.data) == ("image/svg+xml", "")
    assert image.artifact_id is not None
    assert len(result.content) == 1


async def test_a_drawing_that_cannot_be_kept_is_told_and_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ArtifactStore, "add_bytes", refuse)
    result = await run(tmp_path, [Display({"image/svg+xml": "<svg/>"}), out("goes on\n")])
    assert result.text == "[image/svg+xml could not be kept: No space left on device]\ngoes on"
    assert details(result).outcome == "ok"


async def test_a_title_is_one_line_that_no_terminal_obeys(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path) as runtime:
        result = await runtime.python(cells=[{"code": "x", "title": " red\x1b[31m\nand more "}, {"code": "x"}])
    assert result.text == "[1/2] red and more (ok)\n[2/2] (ok)"
    assert [record.title for record in details(result).cells] == ["red and more", ""]


async def test_a_loop_that_displays_cannot_fill_the_memory_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    steps: list[Step] = [
        *(Display({"image/png": PIXEL}) for _ in range(MAX_IMAGES + 5)),
        *(Display({"application/json": n}) for n in range(MAX_JSON_OUTPUTS + 7)),
        *(Status("log") for _ in range(MAX_STATUS_EVENTS + 9)),
    ]
    result = await run(tmp_path, steps)
    kept = details(result)
    assert (len(kept.images), len(kept.json_outputs)) == (MAX_IMAGES, MAX_JSON_OUTPUTS)
    assert len(kept.status_events) == len(kept.cells[0].status_events) == MAX_STATUS_EVENTS
    for sentence in ("5 more images", "7 more JSON displays", "9 more status events"):
        assert f"Not kept: {sentence} than a result holds" in result.text


async def test_one_image_that_is_too_large_is_told_with_what_a_result_holds(tmp_path: Path) -> None:
    small = png(20, 10)
    large = encoded(small[:-12] + chunk(b"teST", bytes(MAX_IMAGE_BYTES * 3 // 4)) + small[-12:])
    result = await run(tmp_path, [Display({"image/png": large})])
    assert details(result).images == []
    expected = "Not kept: 1 more images than a result holds (32, and 24 MiB of them together): save them as files."
    assert expected in result.text


async def test_events_that_are_large_cannot_fill_the_memory_and_small_ones_are_kept_beside_them(tmp_path: Path) -> None:
    large = Status("log", {"text": "x" * (MAX_STATUS_BYTES // 3)})
    result = await run(tmp_path, [large, large, large, Status("small"), large])
    assert [event.op for event in details(result).status_events] == ["log", "log", "small"]
    assert "Not kept: 2 more status events than a result holds." in result.text


async def test_a_drawing_beyond_the_limit_leaves_no_file(tmp_path: Path) -> None:
    svg = Display({"image/svg+xml": "<svg/>"})
    result = await run(tmp_path, [svg] * (MAX_IMAGES + 3))
    assert len(details(result).images) == len({image.artifact_id for image in details(result).images}) == MAX_IMAGES
    assert "Not kept: 3 more images" in result.text
