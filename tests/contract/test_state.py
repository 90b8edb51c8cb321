"""A kernel keeps its state from cell to cell, and a request can set where and with what a cell runs."""

from pathlib import Path

import pytest

from pisces.kernels.base import Kernel
from pisces.model.events import Result, Started, Variable
from tests.fakes.drive import ok, run, value


async def test_names_live_from_cell_to_cell(kernel: Kernel) -> None:
    await ok(kernel, "x = 41")
    assert await value(kernel, "x + 1") == "42"


async def test_a_cell_starts_with_started_and_ends_with_done(kernel: Kernel) -> None:
    ran = await ok(kernel, "print('hello')")
    assert isinstance(ran.events[0], Started)
    assert len(ran.of(Started)) == 1
    assert ran.done.state == "kept"
    assert ran.done.notes == ()


async def test_an_empty_cell_is_fine(kernel: Kernel) -> None:
    ran = await ok(kernel, "")
    assert ran.outline == []


async def test_each_counted_cell_has_the_next_number(kernel: Kernel) -> None:
    first = (await ok(kernel, "1")).done.execution_count
    second = await ok(kernel, "2")
    assert first is not None
    assert second.done.execution_count == first + 1
    assert second.of(Result)[0].execution_count == first + 1


async def test_a_failed_cell_is_counted(kernel: Kernel) -> None:
    first = (await ok(kernel, "1")).done.execution_count
    failed = await run(kernel, "1 / 0")
    assert first is not None
    assert failed.done.execution_count == first + 1


async def test_a_silent_cell_shows_no_value_and_is_not_counted(kernel: Kernel) -> None:
    before = (await ok(kernel, "1")).done.execution_count
    silent = await ok(kernel, "silent_name = 5\nsilent_name", silent=True)
    assert silent.result is None
    assert silent.done.execution_count is None
    after = await ok(kernel, "silent_name")
    assert before is not None
    assert (after.result, after.done.execution_count) == ("5", before + 1)


async def test_a_cell_that_is_not_stored_shows_its_value_and_is_not_counted(kernel: Kernel) -> None:
    before = (await ok(kernel, "1")).done.execution_count
    unstored = await ok(kernel, "6 * 7", store_history=False)
    assert unstored.result == "42"
    assert (await ok(kernel, "1")).done.execution_count == (before or 0) + 1


@pytest.mark.needs_process
async def test_a_request_sets_folder_and_variables_before_the_code_runs(fresh: Kernel, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    code = "import os\nprint(os.getcwd(), os.environ['GREETING'])"
    ran = await ok(fresh, code, cwd=str(tmp_path / "inner"), env={"GREETING": "hello"})
    assert ran.stdout == f"{tmp_path / 'inner'} hello\n"


@pytest.mark.needs_process
async def test_the_folder_of_a_cell_lasts(fresh: Kernel, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    await ok(fresh, "%cd one")
    assert await value(fresh, "import os; os.getcwd()") == repr(str(tmp_path / "one"))
    await ok(fresh, "os.chdir('../two')")
    assert await value(fresh, "os.getcwd()") == repr(str(tmp_path / "two"))


@pytest.mark.needs_process
async def test_a_folder_that_is_missing_fails_the_cell_and_not_the_kernel(fresh: Kernel, tmp_path: Path) -> None:
    ran = await run(fresh, "print('ran anyway')", cwd=str(tmp_path / "missing"))
    assert ran.done.status == "error"
    assert ran.error.ename == "FileNotFoundError"
    assert str(tmp_path / "missing") in "\n".join(ran.error.traceback)
    assert "guest" not in "\n".join(ran.error.traceback)
    assert ran.stdout == ""
    assert await value(fresh, "1 + 1") == "2"


@pytest.mark.needs_process
async def test_a_variable_that_no_process_can_have_fails_the_cell_and_not_the_kernel(fresh: Kernel) -> None:
    ran = await run(fresh, "print('ran anyway')", env={"NAME": "with\0null"})
    assert (ran.done.status, ran.error.ename) == ("error", "ValueError")
    assert await value(fresh, "1 + 1") == "2"


@pytest.mark.needs_shell
async def test_what_a_cell_did_to_the_names_is_reported_when_asked_for(fresh: Kernel) -> None:
    first = await ok(fresh, "numbers = [1, 2, 3]\nname = 'Ada'", inspect=True)
    assert first.done.variables is not None
    assert first.done.variables.added == (Variable("name", "str", "3"), Variable("numbers", "list", "3"))
    second = await ok(fresh, "numbers.append(4)\ndel name", inspect=True)
    assert second.done.variables is not None
    assert second.done.variables.changed == (Variable("numbers", "list", "4"),)
    assert second.done.variables.removed == ("name",)
    assert (await ok(fresh, "other = 1")).done.variables is None
