"""Make the pictures of the documentation: the real UI, with a host and kernels of its own.

    python -m scripts.screenshots [--to FOLDER] [SCENE…]

Each scene is a small piece of work, done by keys as a person does it. What is on the screen then is written as SVG. The
home and the folder are made for it and removed, so that no picture shows anything of this machine.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from math import sin
from pathlib import Path
from typing import Final, NamedTuple

import anyio

from tests.fakes.screens import Screen, screen
from tests.fakes.tmux import pisces_in_tmux
from tests.source_tree import ROOT

IMAGES: Final = ROOT / "docs" / "images"
LARGEST: Final = 300_000
"""Bytes that a picture may have."""
_WEB_FONTS: Final = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)
_REMARK: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_BLANK: Final = "&#160;"
_FONT: Final = re.compile(r"font-family:\s*[^;]+;")

_READ = """import pandas as pd, matplotlib.pyplot as plt
data = pd.read_csv("weather.csv")
data.describe().round(1)"""
_PLOT = """figure, axes = plt.subplots(figsize=(7, 3))
axes.fill_between(data.day, data.low, data.high, color="steelblue")
plt.show()"""
_TREE = """from IPython.display import JSON
JSON({"station": "Harbour", "days": [1, 2, 3], "mean": {"high": 14.2}})"""
_CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"


class Scene(NamedTuple):
    """What is done before the picture is taken."""

    does: Callable[[Screen], Awaitable[None]]
    session: str
    size: tuple[int, int] = (110, 38)
    theme: str = "dark"
    notebook: str | None = None


async def _cells(seen: Screen) -> None:
    await _run(seen, _READ, "max")
    await _run(seen, _PLOT, "▀▀▀")
    await seen.pilot.press("f2")
    await seen.until("DataFrame")


async def _errors(seen: Screen) -> None:
    await _run(seen, "readings = [12.5, 14.1, 13.8]", "✓")
    await _run(seen, "readings['first']", "TypeError")
    await _run(seen, _CRASH, "STATE RESTORED")
    await _run(seen, "sum(readings) / len(readings)", "13.4")


async def _tree(seen: Screen) -> None:
    await _run(seen, _TREE, "Harbour")
    await _run(seen, "! ls", "weather.csv")
    await seen.pilot.press("f3")
    await seen.until("● stations")


async def _notebook(seen: Screen) -> None:
    await seen.until("read_csv")
    await seen.pilot.press("A")
    await seen.until("▀▀▀")


SCENES: Final = {
    "cells": Scene(_cells, "weather"),
    "cells-light": Scene(_cells, "weather-light", theme="light"),
    "errors": Scene(_errors, "readings", size=(100, 34)),
    "tree": Scene(_tree, "stations", size=(110, 30)),
    "notebook": Scene(_notebook, "report", notebook="weather.ipynb"),
}
RUN: Final = "run"
"""The scene that is no screen: a command on a terminal."""


async def _run(seen: Screen, code: str, wanted: str) -> None:
    """Run code, and wait for what it says, and until it has ended."""
    await seen.run(code)
    await seen.until(wanted)
    await seen.until(lambda: not seen.app.desk.busy)


async def take(name: str, folder: Path) -> str:
    """Play a scene; the picture as SVG."""
    scene = SCENES[name]
    async with screen(folder, size=scene.size, session=scene.session, notebook=scene.notebook) as seen:
        seen.app.theme = f"pisces-{scene.theme}"
        await scene.does(seen)
        await seen.pilot.pause(0.5)  # Marks of activity and of focus come to rest.
        return cleaned(seen.app.export_screenshot(title="pisces"))


def take_run(folder: Path) -> str:
    """`pisces run` in a real terminal; the picture as SVG."""
    from rich.console import Console
    from rich.text import Text

    with pisces_in_tmux(folder, "run", "weather.py", size=(90, 34)) as terminal:
        terminal.until("ended with")
        lines = terminal.coloured.split("\n")
    end = next(number for number, line in enumerate(lines) if "ended with" in line)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=90, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi("$ pisces run weather.py\n" + "\n".join(lines[1:end])))
    return cleaned(console.export_svg(title="pisces run"))


def cleaned(svg: str) -> str:
    """Without fonts from elsewhere and without the home: a picture needs no network, and shows nothing of a machine."""
    own = _FONT.sub("font-family: monospace;", _WEB_FONTS.sub("", _REMARK.sub("", svg)))
    home = os.environ["HOME"]
    # The text is stretched to the width that it had, so it has to stay as long.
    return re.sub(rf"{re.escape(home)}([^<]*)<", lambda found: f"~{found[1]}{_BLANK * (len(home) - 1)}<", own)


def furnish(folder: Path) -> None:
    """What the demonstration works on."""
    days = [f"{day},{14 + round(5 * sin(day / 4), 1)},{8 + round(3 * sin(day / 3), 1)}" for day in range(1, 29)]
    (folder / "weather.csv").write_text("\n".join(["day,high,low", *days]) + "\n", "utf-8")
    script = ("Read", _READ), ("Which days were warm?", "print(*data[data.high > 18].day)"), ("A slip", "dta.day.max()")
    (folder / "weather.py").write_text("".join(f"# %% {title}\n{code}\n" for title, code in script), "utf-8")
    cells = [
        ("markdown", "# Weather\nHow warm were the days of **February**?"),
        ("code", _READ.replace("describe().round(1)", "head(3)")),
        ("code", _PLOT),
    ]
    made: list[dict[str, object]] = [
        {"id": f"c{number}", "cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for number, (kind, source) in enumerate(cells)
    ]
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "weather.ipynb").write_text(json.dumps(notebook, indent=1), "utf-8")


def main() -> int:
    """Make the pictures that were asked for, else all."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--to", type=Path, default=IMAGES)
    arguments.add_argument("scenes", nargs="*", metavar="SCENE", choices=[[], *SCENES, RUN], default=[])
    wanted = arguments.parse_args()
    wanted.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pisces-") as home:
        folder = Path(home) / "weather"
        folder.mkdir()
        furnish(folder)
        _move_to(Path(home))
        try:
            return max(_write(name, folder, wanted.to) for name in wanted.scenes or [*SCENES, RUN])
        finally:
            _end_host()


def _move_to(home: Path) -> None:
    """Have a home, and an interpreter, of the pictures' own."""
    from tests.environments import interpreter_of

    os.environ |= {
        "HOME": str(home),
        "PISCES_HOME": str(home / ".pisces"),
        "PYTHONPATH": str(ROOT / "src"),
        "PI_SET__python__interpreter": interpreter_of("ipython"),
    }
    os.chdir(home / "weather")


def _write(name: str, folder: Path, target: Path) -> int:
    svg = take_run(folder) if name == RUN else anyio.run(take, name, folder)
    if len(svg) > LARGEST or str(ROOT) in svg or os.environ["HOME"] in svg:
        print(f"{name}: {len(svg)} bytes, and no path of this machine may be in it", file=sys.stderr)
        return 1
    (target / f"{name}.svg").write_text(svg, "utf-8")
    print(f"{name}.svg: {len(svg)} bytes")
    return 0


def _end_host() -> None:
    from pisces.host.start import find_host

    client = find_host(os.environ)
    if client is not None:
        client.stop(with_sessions=True)


if __name__ == "__main__":
    sys.exit(main())
