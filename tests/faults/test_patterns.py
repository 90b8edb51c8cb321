"""Regular expressions from outside that take for ever."""

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil
import pytest

from pisces.errors import ArtifactError
from pisces.mcp.resources.reading import Resources
from pisces.output import search
from pisces.output.artifacts import ArtifactStore
from pisces.runtime import Runtime
from pisces.tui.pager import search_process
from pisces.tui.pager.rows import Parts
from pisces.tui.pager.search import Search
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import call, details, kernel_of, runtime_on

FOR_EVER = "(a+)+b"
LINE = "a" * 100

Place = Callable[[Runtime], Coroutine[Any, Any, str]]


async def in_an_artifact(runtime: Runtime) -> str:
    number = runtime.artifacts.add_bytes("default", "python", f"{LINE}\n".encode(), extension="log")
    return (await runtime.session("output", id=number, search=FOR_EVER)).text


async def in_the_output_of_a_job(runtime: Runtime) -> str:
    await call(runtime, f"print({LINE!r})", session="printing", background=True)
    await runtime.session("wait", job="job-1")
    return (await runtime.session("output", job="job-1", search=FOR_EVER)).text


async def in_a_resource(runtime: Runtime) -> str:
    number = runtime.artifacts.add_bytes("default", "python", f"{LINE}\n".encode(), extension="log")
    try:
        contents = await Resources(runtime).read(f"artifact://{number}?search=(a%2B)%2Bb", "me")
    except ArtifactError as error:
        return error.explain()
    raise AssertionError(contents)


PLACES = [in_an_artifact, in_the_output_of_a_job, in_a_resource]


def searching() -> bool:
    """Whether a child of this process is at work on a search."""
    return any(map(is_at_work, psutil.Process().children()))


def is_at_work(child: psutil.Process) -> bool:
    try:
        return search.__name__ in child.cmdline() and child.cpu_times().user > 0.3
    except psutil.NoSuchProcess:  # Another child of this process, which has just ended.
        return False


# A search of 1 MB held the interpreter lock of the host for good.
@pytest.mark.parametrize("place", PLACES)
async def test_a_pattern_that_takes_for_ever_holds_up_no_other_call(
    plain_python: str, tmp_path: Path, place: Place
) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        group.start_soon(place, runtime)
        await eventually(searching)
        assert (await call(runtime, "1 + 1", session="other")).text.splitlines()[-1] == "2"
        assert searching()
        group.cancel_scope.cancel()
    # The process ends with the call: otherwise the fixture finds it.


@pytest.mark.parametrize("place", PLACES)
async def test_a_search_that_takes_too_long_says_what_to_do(
    plain_python: str, tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SECONDS", 0.3)
    async with runtime_on(plain_python, tmp_path) as runtime:
        with anyio.fail_after(PATIENCE):
            text = await place(runtime)
    assert f"The search for {FOR_EVER!r} took longer than 0.3 s and was stopped." in text
    assert "nested repeats such as (a+)+" in text


def test_the_process_of_a_search_ends_by_itself_when_nobody_is_left_to_end_it(tmp_path: Path) -> None:
    file = tmp_path / "1.python.log"
    file.write_text(f"{LINE}\n", encoding="utf-8")
    with file.open("rb") as opened:
        searched = search.Searched(name="x", path=str(file))
        requests = {
            search.__name__: search.Request(FOR_EVER.encode(), searched, 0.2),
            search_process.__name__: search_process.Wanted(FOR_EVER, Parts((opened.fileno(),)), seconds=0.2),
        }
        for module, request in requests.items():
            command = [sys.executable, "-P", "-m", module]
            done = subprocess.run(
                command, input=msgspec.json.encode(request), pass_fds=[opened.fileno()], timeout=PATIENCE, check=False
            )
            assert done.returncode == -signal.SIGALRM


async def test_a_pattern_without_special_characters_needs_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_COMMAND", ["no such program"])
    store = ArtifactStore(tmp_path)
    number = store.add_bytes("s", "python", b"one\ntwo: 2\n", extension="log")
    assert await store.search(number, "two: 2") == "2:two: 2"
    with pytest.raises(ArtifactError, match=re.escape("could not be started")):
        await store.search(number, "two: .")


@pytest.mark.parametrize("how", ["deadline", "cancelled scope", "cancelled task"])
async def test_a_search_for_plain_text_ends_with_its_time_and_with_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    began, ended = threading.Event(), threading.Event()

    def many_lines(path: Path, artifact_id: str, matches: search.Matches, lines: object) -> Iterator[tuple[int, str]]:
        began.set()
        give_up = time.monotonic() + PATIENCE  # For a search that nothing stops.
        while time.monotonic() < give_up:
            try:
                yield from ((1, "line") for _ in range(1000) if matches("line"))
            except ArtifactError:
                ended.set()
                raise

    monkeypatch.setattr(search, "matching_lines", many_lines)
    store = ArtifactStore(tmp_path)
    number = store.add_bytes("s", "python", b"line\n", extension="log")
    if how == "deadline":
        with pytest.raises(ArtifactError, match=re.escape("'needle' took longer than 0.2 s and was stopped.")) as error:
            await store.search(number, "needle", seconds=0.2)
        assert "plain text" not in error.value.hint
    elif how == "cancelled scope":
        async with anyio.create_task_group() as group:
            group.start_soon(store.search, number, "needle")
            await eventually(began.is_set)
            group.cancel_scope.cancel()
    else:
        task = asyncio.create_task(store.search(number, "needle"))
        await eventually(began.is_set)
        task.cancel()
        await asyncio.wait([task])
    await eventually(ended.is_set)


# Cells run beside it, as the same user, and can read the environment of each process that is not protected.
@pytest.mark.parametrize("of_the_pager", [False, True], ids=["artifact", "pager"])
async def test_the_process_of_a_search_has_no_secret_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_the_pager: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-key-of-the-user")
    store = ArtifactStore(tmp_path)
    number = store.add_bytes("s", "python", f"{LINE}\n".encode(), extension="log")
    with store.path(number).open("rb") as file:
        pager = Search(FOR_EVER, Parts((file.fileno(),)), lambda: None)
        before = set(psutil.Process().children())
        task = asyncio.create_task(pager.go_on() if of_the_pager else store.search(number, FOR_EVER))
        await eventually(lambda: set(psutil.Process().children()) > before)
        (child,) = set(psutil.Process().children()) - before
        module = search_process if of_the_pager else search
        await eventually(lambda: module.__name__ in child.cmdline())  # Before, it is a copy of this process.
        environment = child.environ()
        task.cancel()
        await asyncio.wait([task])
    assert "OPENAI_API_KEY" not in environment


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
@pytest.mark.parametrize("helper", ["grep", "rgrep"])
async def test_a_timeout_interrupts_a_helper_with_such_a_pattern(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str, helper: str
) -> None:
    (tmp_path / "log.txt").write_text(LINE, encoding="utf-8")
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "x = 1")
        result = await call(runtime, f"{helper}({FOR_EVER!r}, 'log.txt')", timeout=1)
        assert (await call(runtime, "x")).text == "1"
    assert (details(result).outcome, kernel_of(result).state) == ("timeout", "kept")
