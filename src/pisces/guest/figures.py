"""Shows matplotlib's open figures: when `plt.show()` is called, and at the end of the cell.

Nothing is imported for it. `plt.show` is replaced at the moment when the user's code imports pyplot; backends that
show figures themselves (`inline`, `widget`, windows) are left alone.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    from .shell_contract import Channel

_PYPLOT = "matplotlib.pyplot"
_FILE_BACKENDS = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})
_channels: list[Channel] = []
_shown: list[Any] = []
"""Figures that the running cell displayed by name, so that its end does not show them again."""


def show_on(channel: Channel) -> None:
    """Send figures to this channel from now on."""
    _channels[:] = [channel]


def install() -> None:
    """See to it that `plt.show()` shows; now, or when pyplot is imported."""
    pyplot = sys.modules.get(_PYPLOT)
    if pyplot is not None:
        _replace_show(pyplot)
    elif not any(isinstance(finder, _PyplotFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PyplotFinder())


def show_open() -> None:
    """Show every open figure once and close it; costs nothing while pyplot is not imported."""
    try:
        pyplot = sys.modules.get(_PYPLOT)
        if pyplot is not None:
            _show_all(pyplot)
    finally:
        _shown.clear()


def show_open_after_error() -> None:
    """The same after a cell that failed; a figure that cannot be drawn then is named on stderr."""
    try:
        show_open()
    except BaseException as failure:  # drawing runs code of the user; the cell's own error is what counts
        from .tracebacks import describe

        ename, evalue, _ = describe(failure)
        sys.stderr.write(f"A figure could not be shown: {ename}: {evalue}\n")


def bundle_if_figure(value: Any) -> dict[str, Any]:
    """The picture of a matplotlib figure and its text; empty for anything else."""
    figure_class = getattr(sys.modules.get("matplotlib.figure"), "Figure", None)
    if figure_class is None or not isinstance(value, figure_class) or not value.axes + value.lines:
        return {}
    from io import BytesIO

    target = BytesIO()
    value.savefig(target, format="png", bbox_inches="tight")
    _shown.append(value)
    return {"image/png": target.getvalue(), "text/plain": repr(value)}


def _show_all(pyplot: ModuleType) -> None:
    numbers: list[int] = getattr(pyplot, "get_fignums", list)()  # A module that is half imported has no such function.
    if not numbers or not _has_no_window(pyplot):
        return
    try:
        for number in numbers:
            figure = pyplot.figure(number)
            if not any(figure is shown for shown in _shown):
                _show(figure)
    finally:
        pyplot.close("all")


def _show(figure: Any) -> None:
    bundle = bundle_if_figure(figure)
    if bundle:
        from binascii import b2a_base64

        bundle["image/png"] = b2a_base64(bundle["image/png"], newline=False).decode("ascii")
        _channels[0].display(bundle, {}, None, False)


def _has_no_window(pyplot: ModuleType) -> bool:
    """Whether the backend only writes files, so that showing is left to us."""
    return str(pyplot.get_backend()).lower() in _FILE_BACKENDS


def _replace_show(pyplot: ModuleType) -> None:
    original = pyplot.show
    if getattr(original, "__module__", None) == __name__:
        return

    def show(*args: Any, **options: Any) -> Any:
        """Show all open figures."""
        if pyplot.get_fignums() and not _has_no_window(pyplot):
            return original(*args, **options)
        return show_open()

    pyplot.show = show  # type: ignore[attr-defined]  # To the checker it is any module.


class _PyplotFinder:
    """Waits for the import of pyplot, lets the usual machinery do it, and has the last word."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _PYPLOT:
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec and spec.loader
        if loader is None:
            return spec
        execute = loader.exec_module

        def execute_and_replace(module: ModuleType) -> None:
            del loader.exec_module  # What stays behind is the usual loader.
            execute(module)
            _replace_show(module)

        loader.exec_module = execute_and_replace
        return spec
