"""Notebooks when the disk is full, a writer is killed, two write at once, or there is a great deal of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.notebooks import (
    ask,
    cells_in,
    code,
    edit_details,
    is_as_jupyter_writes_it,
    outputs_in,
    ran,
    sources_in,
    state_of,
    text_in,
    written,
)
from tests.fakes.runtimes import runtime_on, scripted_runtime
from tests.source_tree import ROOT

MEBIBYTE = 1 << 20


class Programs:
    """Starts programs of `tests.fakes.notebook_processes`, which have a home of their own."""

    def __init__(self, home: Path, leaving: ExitStack) -> None:
        self._home = home
        self._leaving = leaving

    def start(self, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start one; it is ended with the test."""
        command = [*before, sys.executable, "-m", "tests.fakes.notebook_processes", *map(str, arguments)]
        environ = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "HOME": str(self._home)}
        process = subprocess.Popen(
            command,
            env=environ,
            cwd=ROOT,
            encoding="utf-8",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._leaving.enter_context(process)
        self._leaving.callback(process.kill)
        return process

    def run(self, *arguments: object, before: tuple[str, ...] = ()) -> dict[str, Any]:
        """Run one to its end: what it says."""
        return told(self.start(*arguments, before=before))


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a program says at its end."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    with ExitStack() as leaving:
        yield Programs(tmp_path_factory.mktemp("programs"), leaving)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# The file is half written when the disk is full or the process dies.
@pytest.mark.parametrize("how", ["limit", "size"])
def test_a_notebook_stays_whole_when_the_disk_is_full_and_the_reply_says_so(
    programs: Programs, plain_python: str, tmp_path: Path, how: str
) -> None:
    inside: tuple[str, ...] = ()
    if how == "size":
        mount = 'mount -t tmpfs -o size=160k none "$0" && exec "$@"'
        inside = (shutil.which("unshare") or "", "-rm", "sh", "-c", mount, str(tmp_path))
        if not inside[0] or subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            pytest.skip("no small disk can be had here: that takes the right to mount one")
    found = programs.run(f"full_by_{how}", tmp_path, plain_python, before=inside)
    why = {"limit": "file too large", "size": "no space left on device"}[how]
    edited, inserted, run = found["texts"]
    assert (found["same"], found["beside"], found["errors"]) == (True, [], [True, True, True])
    assert edited.startswith(f"Error: {tmp_path / 'a.ipynb'} could not be written: {why}\n")
    assert inserted == edited
    assert "x" * 1000 in run
    assert f"The outputs of cell 0 could not be written to {tmp_path / 'a.ipynb'}: " in run
    assert why in run
    assert (found["again"], found["printed"]) == (False, "x" * 1000 + "\n")


async def test_a_writer_that_is_killed_before_its_last_step_leaves_the_old_notebook(
    programs: Programs, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    file = written(folder / "a.ipynb", code("a"))
    before = state_of(file)
    for _ in range(2):
        process = programs.start("killed_before_rename", file)
        assert process.wait(timeout=PATIENCE) == -signal.SIGKILL
        assert state_of(file) == before
    async with scripted_runtime({}, tmp_path) as runtime:
        result = await ask(runtime, "edit", file, cell_index=0, content="after all")
    assert (result.is_error, sources_in(file), names(folder)) == (False, ["after all"], ["a.ipynb"])


async def test_a_host_that_is_killed_while_a_notebook_runs_leaves_the_outputs_so_far(
    programs: Programs, plain_python: str, tmp_path: Path
) -> None:
    source = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
    file = written(tmp_path / "a.ipynb", code("print('first')"), code(source), code("'next'"))
    process = programs.start("run_all", file, plain_python)
    await eventually(lambda: text_in(file, 1) == "begun\n", within=PATIENCE)
    process.kill()
    process.wait(timeout=PATIENCE)
    assert [text_in(file, index) for index in (0, 1)] == ["first\n", "begun\n"]
    assert is_as_jupyter_writes_it(file)
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await ask(runtime, "run", file, cell_index=2)
    assert (result.is_error, outputs_in(file, 2)[0]["data"]) == (False, {"text/plain": ["'next'"]})


# Two writers at once.
def test_two_processes_that_insert_at_once_lose_nothing_and_readers_see_whole_notebooks(
    programs: Programs, tmp_path: Path
) -> None:
    file = written(tmp_path / "folder" / "a.ipynb", code("mine"))
    writers = [programs.start("insert", file, name, 20) for name in ("a", "b")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    while any(writer.poll() is None for writer in writers):
        assert "mine" in sources_in(file)
    texts = [text for writer in writers for text in told(writer)["texts"]]
    assert all(text.startswith("Inserted code cell at position 0. ") for text in texts), texts
    found = sources_in(file)
    for name in ("a", "b"):
        assert [source for source in found if source.startswith(name)] == [f"{name}{n}" for n in reversed(range(20))]
    assert (len(found), found[-1], names(file.parent)) == (41, "mine", ["a.ipynb"])
    assert len({cell["id"] for cell in cells_in(file)}) == 41
    assert is_as_jupyter_writes_it(file)


# 50 MB of outputs.
def test_a_notebook_of_100_megabytes_is_changed_in_less_than_three_times_its_size(
    programs: Programs, tmp_path: Path
) -> None:
    file = tmp_path / "big.ipynb"
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0K" * (MEBIBYTE // 8)}}
    written(file, *(code(f"draw({number})", outputs=[picture]) for number in range(100)))
    size = file.stat().st_size
    found = programs.run("edit_and_insert", file)
    assert size > 100 * MEBIBYTE
    assert found["texts"][0].startswith("Replaced cell 50 (code). Notebook now has 100 cells.")
    assert found["texts"][1] == "Inserted code cell at position 10. Notebook now has 101 cells."
    assert found["peak"] < 3 * size
    with file.open("rb") as whole:
        data = whole.read()
    assert (data.count(b'"changed"'), data.count(b'"draw('), data.count(b'"new"')) == (1, 99, 1)
    file.unlink()


def test_100_megabytes_of_text_from_one_cell_leave_a_small_notebook_and_little_memory(
    programs: Programs, plain_python: str, tmp_path: Path
) -> None:
    source = "line = 'x' * 1023\nprint('the first')\nfor _ in range(102400):\n    print(line)\nprint('the last')"
    file = written(tmp_path / "a.ipynb", code(source))
    found = programs.run("run_all", file, plain_python)
    text = text_in(file, 0)
    assert (found["error"], found["artifact"] is not None) == (False, True)
    assert f"characters are not in the notebook; artifact {found['artifact']} has all of the text…]" in text
    assert (text[:10], text[-9:]) == ("the first\n", "the last\n")
    assert len(text) < 2 * MEBIBYTE
    assert found["kept"] > 100 * MEBIBYTE
    assert found["peak"] < 100 * MEBIBYTE
    assert is_as_jupyter_writes_it(file)


# Stale outputs remain unmarked.
async def test_outputs_that_an_edit_made_stale_are_marked_until_the_cell_is_run(
    plain_python: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.ipynb", ran(code("print(1)"), "1\n"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        stale = await ask(runtime, "edit", file, cell_index=0, content="print(2)")
        await ask(runtime, "run", file, cell_index=0)
        fresh = await ask(runtime, "edit", file, cell_index=0, content="print(2)")
    assert ("stale" in stale.text, edit_details(stale).stale_outputs) == (True, True)
    assert (text_in(file, 0), "stale" in fresh.text, edit_details(fresh).stale_outputs) == ("2\n", False, False)
