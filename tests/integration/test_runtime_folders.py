"""Where cells run: the folder of the runtime, the one that a call names, and the one that a cell went to."""

import os
from pathlib import Path

import anyio
import pytest

from pisces.runtime import Runtime
from tests.fakes.runtimes import begin, call, details, runtime_on

WHERE = "import os\nprint(os.getcwd())"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "project"
    for name in ("one", "two"):
        (made / name).mkdir(parents=True)
    (made / "file").touch()
    return made


async def test_a_named_folder_lasts_until_another_is_named(plain_python: str, folder: Path) -> None:
    async with runtime_on(plain_python, folder) as runtime:
        assert (await call(runtime, WHERE)).text == str(folder)
        assert (await call(runtime, WHERE, cwd="one")).text == str(folder / "one")
        assert (await call(runtime, WHERE)).text == str(folder / "one")
        assert (await call(runtime, WHERE, workdir=str(folder / "two"))).text == str(folder / "two")


async def test_where_a_cell_goes_it_stays_although_the_same_folder_is_named_again(
    plain_python: str, folder: Path
) -> None:
    async with runtime_on(plain_python, folder) as runtime:
        await call(runtime, "x = 1\nimport os\nos.chdir('two')", cwd=".")
        assert (await call(runtime, WHERE, cwd=".")).text == str(folder / "two")
        result = await call(runtime, WHERE + "\nprint(x)", cwd="one")
        assert result.text == f"{folder / 'one'}\n1", "a folder never selects another kernel"
        assert len(details(result).cells) == 1


async def test_a_fresh_kernel_begins_in_the_folder_that_was_named_last(plain_python: str, folder: Path) -> None:
    async with runtime_on(plain_python, folder) as runtime:
        await call(runtime, "import os\nos.chdir('/')", cwd="one")
        assert (await call(runtime, WHERE, reset=True)).text == str(folder / "one")


async def test_a_folder_that_is_gone_when_the_cell_runs_is_an_error_of_the_cell(
    plain_python: str, folder: Path
) -> None:
    async with runtime_on(plain_python, folder) as runtime, anyio.create_task_group() as group:
        first = begin(group, runtime, "import os, time\nprint('up')\nwhile os.path.exists('one'): time.sleep(0.01)")
        await first.watcher.prints("up")
        second = begin(group, runtime, "ran = True", cwd="one")
        await anyio.wait_all_tasks_blocked()
        (folder / "one").rmdir()
        result = await second.finish()
        assert (await call(runtime, "'ran' in globals()")).text == "False"
    assert (details(result).outcome, details(result).cells[0].exit_code) == ("error", 1)
    assert "FileNotFoundError" in result.text


async def test_a_kernel_can_live_without_its_folder(plain_python: str, folder: Path) -> None:
    async with runtime_on(plain_python, folder) as runtime:
        await call(runtime, "import os\nos.rmdir(os.getcwd())", cwd="one")
        assert (await call(runtime, "1 + 1")).text == "2"
        assert (await call(runtime, "1 + 1", reset=True)).text == "2"


@pytest.mark.parametrize(
    ("cwd", "message"),
    [("missing", "Working directory does not exist: {}"), ("file", "Working directory is not a directory: {}")],
)
async def test_a_folder_that_is_none_is_refused_before_anything_runs(
    plain_python: str, folder: Path, cwd: str, message: str
) -> None:
    async with runtime_on(plain_python, folder) as runtime:
        result = await call(runtime, "open('made', 'w')", cwd=cwd)
    assert (result.is_error, result.text) == (True, "Error: " + message.format(folder / cwd))
    assert sorted(os.listdir(folder)) == ["file", "home", "one", "two"]
    assert result.details is None


async def test_a_runtime_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=str(tmp_path / "nowhere")):
        Runtime(cwd=tmp_path / "nowhere")


async def test_the_folder_of_the_artifacts_is_there_when_a_kernel_starts(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await call(
            runtime, "import os\nprint(os.environ['PI_ARTIFACTS_DIR'], os.listdir(os.environ['ARTIFACTS']))"
        )
    assert result.text == f"{tmp_path}/home/.pisces/agent/artifacts []"
