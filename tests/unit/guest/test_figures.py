"""Figures of the real matplotlib, in an interpreter that has it; its IPython is not used."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.guest.guest_process import run_cells

pytestmark = pytest.mark.processes
PLOT = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\n"
PNG = "iVBORw0KGgo"


@pytest.fixture(scope="module")
def shown(ipython_python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each kind of cell shows, all in one process, as starting matplotlib takes long."""
    cells = {
        "shown by hand": PLOT + "plt.show()\n'after'",
        "left open": PLOT + "None",
        "nothing left": "plt.get_fignums()",
        "two figures": "plt.figure(figsize=(2, 1)).add_subplot()\nplt.figure(figsize=(1, 2)).add_subplot();",
        "empty": "plt.figure();",
        "as a result": "fig, ax = plt.subplots()\nfig",
        "closed by the user": "fig, ax = plt.subplots()\nplt.close(fig)",
        "after an error": "fig, ax = plt.subplots()\n1/0",
        "cannot be drawn": "fig, ax = plt.subplots()\nax.set_title('$\\\\nosuchcommand$')\nNone",
        "captured": "%%capture kept\nfig, ax = plt.subplots()",
        "kept": "len(kept.outputs)",
    }
    folder: Path = tmp_path_factory.mktemp("figures")
    report = run_cells(ipython_python, list(cells.values()), cwd=folder)["cells"]
    return {name: [cell["status"], *cell["events"]] for name, cell in zip(cells, report, strict=True)}


def is_figure(event: list[Any]) -> bool:
    bundle = event[1]
    return str(bundle["image/png"]).startswith(PNG) and str(bundle["text/plain"]).startswith("<Figure size ")


def test_show_shows_at_that_moment_in_the_cell_that_imports_pyplot(shown: dict[str, list[Any]]) -> None:
    status, figure, result = shown["shown by hand"]
    assert (status, figure[0], result) == ("ok", "display", ["result", {"text/plain": "'after'"}])
    assert is_figure(figure)


def test_a_figure_left_open_is_shown_once_and_closed(shown: dict[str, list[Any]]) -> None:
    assert len(shown["left open"]) == 2
    assert is_figure(shown["left open"][1])
    assert shown["nothing left"] == ["ok", ["result", {"text/plain": "[]"}]]


def test_every_open_figure_is_shown_in_order(shown: dict[str, list[Any]]) -> None:
    texts = [event[1]["text/plain"] for event in shown["two figures"][1:]]
    assert texts == ["<Figure size 200x100 with 1 Axes>", "<Figure size 100x200 with 1 Axes>"]


def test_an_empty_figure_is_not_shown(shown: dict[str, list[Any]]) -> None:
    assert shown["empty"] == ["ok"]


def test_a_figure_that_is_the_result_is_not_shown_again(shown: dict[str, list[Any]]) -> None:
    assert [event[0] for event in shown["as a result"][1:]] == ["result"]
    assert is_figure(shown["as a result"][1])


def test_a_figure_that_the_user_closed_is_not_shown(shown: dict[str, list[Any]]) -> None:
    assert shown["closed by the user"] == ["ok"]


def test_what_was_drawn_before_an_error_is_shown(shown: dict[str, list[Any]]) -> None:
    assert shown["after an error"][0] == "error"
    assert is_figure(shown["after an error"][1])


def test_a_figure_that_cannot_be_drawn_is_an_error_of_its_cell(shown: dict[str, list[Any]]) -> None:
    assert shown["cannot be drawn"] == ["error"]


def test_a_captured_cell_keeps_its_figures(shown: dict[str, list[Any]]) -> None:
    assert shown["captured"] == ["ok"]
    assert shown["kept"] == ["ok", ["result", {"text/plain": "1"}]]
