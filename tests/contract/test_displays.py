"""Rich output: displays, updates, results, and data that JSON or one frame cannot hold."""

import pytest

from pisces.kernels.base import Kernel
from pisces.model.events import ClearOutput, Display, Result
from tests.contract import cells
from tests.fakes.drive import ok, run

BROKEN = """
class Broken:
    def _repr_html_(self): 1 / 0
    def __repr__(self): return 'still here'
Broken()
"""


@pytest.fixture
async def showing(kernel: Kernel) -> Kernel:
    """The shared kernel, with the display functions at hand."""
    await ok(kernel, cells.DISPLAYS)
    return kernel


async def test_a_display_has_its_bundle(showing: Kernel) -> None:
    ran = await ok(showing, "display({'text/plain': 'x', 'text/html': '<b>x</b>'}, raw=True)")
    (display,) = ran.of(Display)
    assert display.bundle == {"text/plain": "x", "text/html": "<b>x</b>"}
    assert (display.display_id, display.update) == (None, False)


async def test_an_update_names_the_display_it_replaces(showing: Kernel) -> None:
    code = "display({'text/plain': 'old'}, raw=True, display_id='plot')\n"
    code += "update_display({'text/plain': 'new'}, raw=True, display_id='plot')"
    first, second = (await ok(showing, code + ";")).of(Display)
    assert (first.display_id, first.update) == ("plot", False)
    assert (second.display_id, second.update, second.bundle["text/plain"]) == ("plot", True, "new")


async def test_clear_output_keeps_its_place(showing: Kernel) -> None:
    ran = await ok(showing, "print('old')\nclear_output(wait=True)\nprint('new')\nclear_output()")
    assert ran.outline == [("stdout", "old\n"), ("clear", True), ("stdout", "new\n"), ("clear", False)]
    assert [event.wait for event in ran.of(ClearOutput)] == [True, False]


async def test_the_value_of_the_last_expression_is_the_result(kernel: Kernel) -> None:
    ran = await ok(kernel, "a = [1, 2]\na")
    (result,) = ran.of(Result)
    assert result.bundle["text/plain"] == "[1, 2]"
    assert result.execution_count == ran.done.execution_count


async def test_none_is_no_result(kernel: Kernel) -> None:
    assert (await ok(kernel, "None")).of(Result) == []


@pytest.mark.needs_shell
async def test_an_object_is_shown_as_it_describes_itself(kernel: Kernel) -> None:
    code = """
class Rich:
    def _repr_html_(self): return '<i>rich</i>'
    def _repr_png_(self): return b'\\x89PNG'
    def __repr__(self): return 'plain'
Rich()
"""
    (result,) = (await ok(kernel, code)).of(Result)
    shown = {kind: data.rstrip("\n") for kind, data in result.bundle.items()}  # Base64 may end with a line's end.
    assert shown == {"text/plain": "plain", "text/html": "<i>rich</i>", "image/png": "iVBORw=="}


@pytest.mark.needs_shell
async def test_a_repr_that_raises_does_not_keep_the_others_from_being_shown(kernel: Kernel) -> None:
    ran = await run(kernel, BROKEN)
    assert ran.result == "still here"
    assert ran.done.state == "kept"


@pytest.mark.needs_shell
@pytest.mark.needs_forgiving_display
async def test_a_repr_that_raises_does_not_break_the_cell(kernel: Kernel) -> None:
    assert (await ok(kernel, BROKEN)).result == "still here"


@pytest.mark.needs_shell
async def test_numbers_that_json_cannot_say_arrive_as_text(showing: Kernel) -> None:
    code = "display({'application/json': {'a': float('nan'), 'b': [float('inf'), -float('inf')]}}, raw=True)"
    (display,) = (await ok(showing, code)).of(Display)
    javascript, python = ["NaN", "Infinity", "-Infinity"], ["nan", "inf", "-inf"]
    shown = display.bundle["application/json"]
    assert [shown["a"], *shown["b"]] in (javascript, python)


@pytest.mark.needs_shell
async def test_a_lone_surrogate_in_a_display_is_replaced(showing: Kernel) -> None:
    (display,) = (await ok(showing, "display({'text/plain': 'a\\ud800b'}, raw=True)")).of(Display)
    text = display.bundle["text/plain"]
    assert text[0] == "a"
    assert text[-1] == "b"
    text.encode("utf-8")


@pytest.mark.parametrize("letter", ["x", "ü", "😀", '"'])
async def test_a_display_of_megabytes_arrives_whole(showing: Kernel, letter: str) -> None:
    code = f"print('before')\ndisplay({{'text/plain': {letter!r} * 3_000_000}}, raw=True)\nprint('after')"
    ran = await ok(showing, code)
    assert [kind for kind, _ in ran.outline] == ["stdout", "display", "stdout"]
    assert ran.outline[1][1] == letter * 3_000_000
    assert ran.done.notes == ()


async def test_many_displays_keep_their_order(showing: Kernel) -> None:
    ran = await ok(showing, "for i in range(300):\n    print(i)\n    display({'text/plain': str(i)}, raw=True)")
    expected = [pair for i in range(300) for pair in (("stdout", f"{i}\n"), ("display", str(i)))]
    assert ran.outline == expected
