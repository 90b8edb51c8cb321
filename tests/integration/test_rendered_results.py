"""What a person sees of real calls: cells that ran, failed, crashed and drew, from their results and their journals."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pisces.journal.history import present_cells
from pisces.journal.reader import read_journal
from pisces.render.cells import cell_rows
from pisces.render.from_journal import view_of
from pisces.render.from_result import CallView, views_of
from pisces.render.look import Look
from pisces.runtime import Runtime
from tests.fakes.cell_views import text_of
from tests.fakes.runtimes import call, runtime_on


@pytest.fixture
async def runtime(ipython_python: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    async with runtime_on(ipython_python, tmp_path) as made:
        yield made


def shown(view: CallView) -> str:
    return "\n".join(text_of(cell_rows(cell, Look())) for cell in view.cells)


async def test_cells_show_what_they_said_and_how_they_went(runtime: Runtime) -> None:
    view = views_of(await call(runtime, ["print('hello')", "def f():\n    1 / 0\nf()", "never()"]))
    assert [cell.status for cell in view.cells] == ["complete", "error", "pending"]
    text = shown(view)
    assert "✓ [1/3]" in text
    assert "│ hello" in text
    assert "ZeroDivisionError: division by zero" in text
    assert text.split("\n")[-3].startswith("╭─ ○ [3/3]")
    assert [notice.kind for notice in view.notices] == ["error"]


async def test_a_crash_and_the_way_back_are_told(runtime: Runtime) -> None:
    await call(runtime, "kept = 41")
    crash = views_of(await call(runtime, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"))
    assert crash.cells[0].outcome == "crashed"
    back = views_of(await call(runtime, "kept + 1"))
    assert "│ 42" in shown(back)
    kinds = {notice.kind for notice in (*crash.notices, *back.notices)}
    assert "restored" in kinds


async def test_a_frame_is_a_table_and_a_plot_is_a_picture(runtime: Runtime) -> None:
    code = "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt, pandas as pd\n"
    plot = "fig, ax = plt.subplots(figsize=(2, 1))\nax.plot([1, 3, 2])\ndisplay(fig)\npd.DataFrame({'a': [1, 2]})"
    view = views_of(await call(runtime, code + plot, timeout=120))
    text = shown(view)
    assert "▀" in text
    assert "a\n" in text.replace(" ", "")


async def test_the_journal_and_the_result_show_the_same_output(runtime: Runtime) -> None:
    result = await call(runtime, "print('a')\nprint('b')\n[1, 2]")
    journals = list(runtime.paths.home.rglob("*.jsonl"))
    assert journals
    cells = present_cells(read_journal(journals[0]).entries)
    from_journal = view_of(cells[-1])
    output = [
        [row.removeprefix("│ ") for row in text_of(cell_rows(view, Look())).split("\n")[1:]]
        for view in (from_journal, views_of(result).cells[0])
    ]
    assert output[0] == output[1]
