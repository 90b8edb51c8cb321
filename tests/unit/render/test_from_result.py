"""Results of tools as cells and notices, whether they come as values or as what JSON made of them."""

from typing import Any

import msgspec
import pytest

from pisces.model.cells import CellRecord
from pisces.model.events import Status
from pisces.model.kernel_info import KernelInfo
from pisces.model.notebooks import NotebookRunDetails
from pisces.model.results import Details, ImageOutput, TextBlock, ToolResult, Truncation
from pisces.render.blocks import Image, Remark, Tree, Words
from pisces.render.from_result import CallView, views_of
from pisces.render.view import Notice
from tests.fakes.cell_views import TRACEBACK, png


def result(details: Any, text: str = "", *, is_error: bool = False) -> ToolResult:
    return ToolResult(content=[TextBlock(text)], details=details, is_error=is_error)


def both_ways(details: Details) -> CallView:
    """What is made of the details, which is the same for what JSON makes of them."""
    made = views_of(result(details))
    assert views_of(result(msgspec.json.decode(msgspec.json.encode(details)))) == made
    return made


CELLS = [
    CellRecord(index=0, code="a", title="One", output="1\n", status="complete", duration_ms=5.0, exit_code=0),
    CellRecord(index=1, code="b", output=f"said\n{TRACEBACK}", status="error", exit_code=1, language="py"),
    CellRecord(index=2, code="c", language="julia", status_events=[Status("log", {"text": "x"})]),
]


def test_each_cell_has_its_place_its_status_and_its_output() -> None:
    one, two, three = both_ways(Details(cells=CELLS, outcome="error")).cells
    assert (one.place, one.title, one.status, one.outcome, one.duration_ms) == ("[1/3]", "One", "complete", "ok", 5.0)
    assert one.blocks == (Words("1\n", "stdout"),)
    assert (two.place, two.outcome, two.language) == ("[2/3]", "error", "python")
    assert two.blocks == (Words("said\n", "stdout"), Words(TRACEBACK, "error"))
    assert (three.status, three.outcome, three.language) == ("pending", None, "julia")
    assert three.status_events == (Status("log", {"text": "x"}),)


def test_a_cell_alone_has_no_place_and_one_of_a_notebook_its_own() -> None:
    alone = CellRecord(index=0, code="a")
    assert views_of(result(Details(cells=[alone]))).cells[0].place == ""
    labelled = CellRecord(index=0, code="a", label="cell 7")
    run = NotebookRunDetails(cells=[labelled], action="run", notebook_path="a.ipynb", total_cells=9)
    assert both_ways(run).cells[0].place == "cell 7"


def test_pictures_and_json_are_with_the_cell_that_showed_them() -> None:
    image = png(4, 4)
    shown = ImageOutput("image/png", image.data, cell=0, width=4, height=4)
    svg = ImageOutput("image/svg+xml", "<svg/>", cell=1, artifact_id="9")
    one, two, _ = both_ways(Details(cells=CELLS, images=[shown, svg], json_outputs=[{"a": 1}])).cells
    assert isinstance(one.blocks[-1], Image)
    assert two.blocks[-2:] == (Remark("[image/svg+xml: artifact://9]"), Tree({"a": 1}))


def test_what_was_printed_beside_markdown_is_not_laid_out_as_markdown() -> None:
    text = "__init__ *args*\n    # x\n**bold**"
    record = CellRecord(index=0, code="a", output=text, status="complete", has_markdown=True)
    assert both_ways(Details(cells=[record])).cells[0].blocks == (Words(text, "stdout"),)


@pytest.mark.parametrize(
    ("sentence", "notice"),
    [
        ("[State: restored] All is back.", Notice("restored", "All is back.")),
        ("[State: lost] Gone.", Notice("lost", "Gone.")),
        ("[State: unknown] Who knows.", Notice("unknown", "Who knows.")),
        ("Command timed out after 3 seconds", Notice("stopped", "Command timed out after 3 seconds")),
        ("Command was interrupted", Notice("stopped", "Command was interrupted")),
        (
            "Cell 2 failed (exit code 1). Fix only cell 2.",
            Notice("error", "Cell 2 failed (exit code 1). Fix only cell 2."),
        ),
        ("Job 3 has finished.", Notice("info", "Job 3 has finished.")),
    ],
)
def test_what_the_call_says_is_told_apart(sentence: str, notice: Notice) -> None:
    assert both_ways(Details(cells=CELLS, notices=[sentence])).notices == (notice,)


def test_what_the_heading_of_a_cell_says_is_not_said_again() -> None:
    assert both_ways(Details(cells=CELLS, notices=["Command exited with code 3"])).notices == ()
    assert views_of(result(Details(notices=["Command exited with code 3"]))).notices[0].kind == "error"


def test_a_state_that_no_sentence_tells_of_is_told() -> None:
    kernel = KernelInfo(backend="native", interpreter="python", generation=2, phase="ready", state="lost")
    (notice,) = both_ways(Details(cells=CELLS, kernel=kernel)).notices
    assert notice.kind == "lost"


def test_a_crash_is_told_even_if_nothing_is_known_of_the_state() -> None:
    assert [notice.kind for notice in both_ways(Details(cells=CELLS, outcome="crashed")).notices] == ["crashed"]


def test_output_that_was_cut_says_where_all_of_it_is() -> None:
    cut = Truncation(100_000, 10**6, 3000, 50_000, 97_000, 950_000)
    (notice,) = both_ways(Details(cells=CELLS, truncation=cut, artifact_id="7")).notices
    assert notice == Notice("cut", "Showing 3,000 of 100,000 lines. All of it: artifact://7")


@pytest.mark.parametrize("details", [None, {}, {"outcome": 7}, {"cells": []}, [], "text"])
def test_a_result_without_cells_is_its_text(details: Any) -> None:
    assert views_of(result(details, "Error: no", is_error=True)) == CallView((), (Notice("error", "Error: no"),))
    assert views_of(result(details, "fine")).notices == (Notice("info", "fine"),)
    assert views_of(result(details)) == CallView()
