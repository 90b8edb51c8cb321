"""Open figures are shown at the end of the cell, once, and closed."""

import pytest

from pisces.kernels.native.kernel import NativeKernel
from pisces.model.events import Display
from tests.fakes.drive import Ran, ok, run, value
from tests.integration.native.conftest import StartKernel

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\n"


@pytest.fixture
async def kernel(start: StartKernel, ipython_python: str) -> NativeKernel:
    return await start(ipython_python)


def pictures(ran: Ran) -> list[str]:
    return [display.bundle["image/png"] for display in ran.of(Display) if "image/png" in display.bundle]


async def test_an_open_figure_is_shown_once_and_closed(kernel: NativeKernel) -> None:
    ran = await ok(kernel, PLOT + "print('plotted')")
    assert [kind for kind, _ in ran.outline] == ["stdout", "display"]
    (picture,) = pictures(ran)
    assert picture.startswith("iVBOR")
    assert await value(kernel, "plt.get_fignums()") == "[]"
    assert pictures(await ok(kernel, "pass")) == []


@pytest.mark.parametrize("magic", ["%matplotlib inline", "%matplotlib agg", "%matplotlib"])
async def test_a_magic_for_figures_changes_nothing_about_how_often_they_are_shown(
    kernel: NativeKernel, magic: str
) -> None:
    await ok(kernel, magic)
    assert len(pictures(await ok(kernel, PLOT))) == 1
    assert len(pictures(await ok(kernel, PLOT + "plt.show()"))) == 1
    assert pictures(await ok(kernel, "pass")) == []


async def test_windows_are_refused_with_what_to_do(kernel: NativeKernel) -> None:
    ran = await run(kernel, "%gui qt")
    assert "No window of 'qt' can be shown here; `%matplotlib inline` shows" in ran.stdout + ran.stderr


async def test_a_figure_that_was_shown_is_not_shown_again(kernel: NativeKernel) -> None:
    ran = await ok(kernel, PLOT + "plt.show()\nprint('after')")
    assert [kind for kind, _ in ran.outline] == ["display", "stdout"]


async def test_several_figures_come_in_their_order(kernel: NativeKernel) -> None:
    ran = await ok(
        kernel, "import matplotlib.pyplot as plt\nfor size in (1, 2): plt.figure(figsize=(size, size)).add_subplot()"
    )
    assert len(pictures(ran)) == 2


async def test_the_figures_of_a_failed_cell_are_shown_too(kernel: NativeKernel) -> None:
    ran = await run(kernel, PLOT + "1 / 0")
    assert ran.done.status == "error"
    assert len(pictures(ran)) == 1
    assert await value(kernel, "plt.get_fignums()") == "[]"
