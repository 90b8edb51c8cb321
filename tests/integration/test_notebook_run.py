"""Cells of notebooks in real kernels: what they say is in the file, as Jupyter would have written it."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import anyio
import pytest

from pisces.model.results import ImageBlock
from pisces.runtime import Runtime
from tests.fakes.drive import eventually
from tests.fakes.notebooks import (
    ask,
    cells_in,
    code,
    is_as_jupyter_writes_it,
    markdown,
    outputs_in,
    ran,
    run_details,
    state_of,
    text_in,
    written,
)
from tests.fakes.runtimes import begin, call, kernel_of, pool_of, runtime_on

INTERPRETERS = pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])


@pytest.fixture(scope="module", params=["plain_python", "ipython_python"])
async def runtime(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """One kernel for all cases that leave it alive."""
    folder = tmp_path_factory.mktemp("cwd")
    async with runtime_on(request.getfixturevalue(request.param), folder) as made:
        await call(made, "pass")
        yield made


@pytest.fixture(scope="module")
async def ipython(ipython_python: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    async with runtime_on(ipython_python, tmp_path_factory.mktemp("cwd")) as made:
        await call(made, "pass")
        yield made


@INTERPRETERS
async def test_a_run_leaves_what_jupyter_would_leave(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    file = written(
        tmp_path / "a.ipynb",
        markdown("# title"),
        code("import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('more')\nprint('and more')"),
        code("6 * 7"),
        code("x = 1"),
    )
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        result = await ask(runtime, "run_all", file)
    assert (result.is_error, run_details(result).outcome, run_details(result).ran) == (False, "ok", [1, 2, 3])
    assert result.text.startswith("[1/3] cell 1\nout\nerr\nmore\nand more\n[2/3] cell 2\n42\n[3/3] cell 3 (ok)\n\n")
    assert f"Ran 3 cells; the outputs are in {file}." in result.text
    assert outputs_in(file, 1) == [
        {"name": "stdout", "output_type": "stream", "text": ["out\n"]},
        {"name": "stderr", "output_type": "stream", "text": ["err\n"]},
        {"name": "stdout", "output_type": "stream", "text": ["more\n", "and more\n"]},
    ]
    assert outputs_in(file, 2) == [
        {"data": {"text/plain": ["42"]}, "execution_count": 2, "metadata": {}, "output_type": "execute_result"}
    ]
    assert [cell.get("execution_count") for cell in cells_in(file)] == [None, 1, 2, 3]
    assert outputs_in(file, 3) == []
    assert is_as_jupyter_writes_it(file)


async def test_the_state_is_that_of_the_python_tool(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("from_notebook = from_python + 1\nfrom_notebook"))
    await call(runtime, "from_python = 41")
    await ask(runtime, "run", file, cell_index=0)
    assert outputs_in(file, 0)[0]["data"] == {"text/plain": ["42"]}
    assert (await call(runtime, "from_notebook")).text == "42"


@INTERPRETERS
async def test_variables_of_the_session_that_a_run_overwrites_are_named_and_not_those_of_the_notebook(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    cells = [code("mine = [2]; fresh = 1"), code("fresh = 2; mine.append(3)"), code("globals().pop('other', None)")]
    file, twin = written(tmp_path / "a.ipynb", *cells), written(tmp_path / "b.ipynb", cells[0])
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await call(runtime, "import os; mine = [1]; other = 2; kept = 3")
        first = await ask(runtime, "run_all", file)
        again = await ask(runtime, "run_all", file)
        await call(runtime, "mine = 'of the session again'")
        third = await ask(runtime, "run_all", file)
        of_the_twin = await ask(runtime, "run_all", twin)
        scratch = await ask(runtime, "run_all", file, restart=True)
    results = (first, again, third, of_the_twin, scratch)
    named = [run_details(result).overwritten for result in results]
    assert named == [["mine", "other"], [], ["mine"], ["fresh", "mine"], []]
    assert "Changed or deleted variables that session 'default' had before: mine, other." in first.text
    assert ["Changed or deleted" in result.text for result in results] == [True, False, True, True, False]


async def test_a_value_that_was_changed_in_place_since_the_last_run_is_named(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("class Model: coef = None\nmodel, other = Model(), Model()"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await ask(runtime, "run_all", file)
        await call(runtime, "model.coef = [1, 2, 3]")
        await call(runtime, "1")
        branched = await runtime.session("branch", to="twin")
        undone = await runtime.session("undo")
        results = [await ask(runtime, "run_all", file, session=name) for name in (None, None, "twin")]
    assert [run_details(result).overwritten for result in results] == [["model"], [], ["model"]]
    assert not branched.is_error
    assert not undone.is_error


async def test_of_many_variables_that_a_run_overwrites_the_first_are_named_and_the_others_counted(
    runtime: Runtime, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.ipynb", code("\n".join(f"v{n:02} = 'notebook'; w{n} = 0" for n in range(30))))
    await call(runtime, "\n".join(f"v{n:02} = 'session'" for n in range(30)))
    result = await ask(runtime, "run_all", file)
    assert f"had before: {', '.join(f'v{n:02}' for n in range(20))} and 10 more." in result.text
    assert len(run_details(result).overwritten) == 30


async def test_a_variable_is_named_also_where_the_cell_makes_a_thousand_others(
    plain_python: str, tmp_path: Path
) -> None:
    """As `from library import *` does. Of more changes than a kernel reports, the reply says that there may be more."""
    names = "globals().update(dict.fromkeys([f'n{number:04}' for number in range(1200)], "
    file = written(tmp_path / "a.ipynb", code(f"{names}1))\nmodel = None"))
    again = written(tmp_path / "b.ipynb", code(f"{names}2))"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "model = 'fitted'")
        first = await ask(runtime, "run_all", file)
        second = await ask(runtime, "run_all", again)
    assert "had before: model.\n" in first.text
    assert "had before: n0000, n0001, " in second.text
    assert " and 980 more. There may be more.\n" in second.text


async def test_what_a_crash_has_restored_is_not_named(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("mine = 2"), code("import os; os.kill(os.getpid(), 9)"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "mine = 1")
        result = await ask(runtime, "run_all", file)
        value = (await call(runtime, "mine")).text
    assert (value, run_details(result).overwritten) in [("1", []), ("2", ["mine"])]


async def test_named_sessions_have_states_of_their_own(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("'mine' in globals()"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        await call(runtime, "mine = 1", session="one")
        for session, found in (("one", "True"), ("two", "False")):
            await ask(runtime, "run", file, cell_index=0, session=session)
            assert outputs_in(file, 0)[0]["data"] == {"text/plain": [found]}


@INTERPRETERS
async def test_a_restart_begins_with_nothing_and_counts_from_one(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    file = written(tmp_path / "a.ipynb", code("old = 1"), code("'old' in globals()"))
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        await ask(runtime, "run", file, cell_index=0)
        await ask(runtime, "run", file, cell_index=1, restart=True)
    assert outputs_in(file, 1)[0]["data"] == {"text/plain": ["False"]}
    assert cells_in(file)[1]["execution_count"] == 1


@INTERPRETERS
async def test_a_restart_runs_in_a_clean_session_and_leaves_the_callers_alone(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    """The caller keeps kernel, variables and checkpoints; and no session is reset that no such run made."""
    source = "class Model: coef = None\nmodel = Model()\nseen = sorted(set(globals()) & {'mine', 'left'})\nseen"
    file = written(tmp_path / "a.ipynb", code(source))
    async with runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime:
        mine = await call(runtime, "import os; mine = 1; os.getpid()")
        first = await ask(runtime, "run_all", file, restart=True)
        second = await ask(runtime, "run_all", file, restart=True)
        assert outputs_in(file, 0)[0]["data"] == {"text/plain": ["[]"]}
        taken_back = await runtime.session("undo", session="default-clean", steps=2)
        fourth = await ask(runtime, "run_all", file, restart=True)
        await call(runtime, "model.coef = [1, 2]", session="default-clean-2")
        fifth = await ask(runtime, "run_all", file, restart=True)
        assert (await call(runtime, "model.coef", session="default-clean-2")).text == "[1, 2]"
        after = await call(runtime, "assert mine == 1; os.getpid()")
        undone = await runtime.session("undo")
        assert (await call(runtime, "mine")).text == "1"
        owners_clean = await call(runtime, "left = 'of the user'", session="own-clean")
        third = await ask(runtime, "run_all", file, restart=True, session="own")
        assert (await call(runtime, "left", session="own-clean")).text == "'of the user'"
    assert (mine.text, kernel_of(mine).generation) == (after.text, kernel_of(after).generation)
    assert not undone.is_error
    assert run_details(first).session == run_details(second).session == "default-clean"
    left_alone = "Ran in session 'default-clean', with a fresh kernel; session 'default' is as it was."
    assert first.text.endswith(left_alone)
    dropped = "What an earlier run had left in 'default-clean' was dropped; undo there with steps: 2 takes that back."
    assert second.text.endswith(f"{left_alone} {dropped}")
    assert not taken_back.is_error
    assert [run_details(result).session for result in (fourth, fifth)] == ["default-clean-2", "default-clean-3"]
    holds = "Session 'default-clean' holds other work and was left alone: close it if it is not needed."
    assert fifth.text.endswith(f" {holds}")
    assert not owners_clean.is_error
    assert run_details(third).session == "own-clean-2"


async def test_restarts_that_come_at_once_each_begin_with_nothing(plain_python: str, tmp_path: Path) -> None:
    """One that comes while another one's kernel is being made has a kernel of its own, unlike a reset."""
    source = "known = 'left' in globals()\nleft = 1\nknown"
    files = [written(tmp_path / f"{name}.ipynb", code(source)) for name in "abc"]
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        for file in files:
            group.start_soon(partial(ask, runtime, "run_all", file, restart=True))
    assert [outputs_in(file, 0)[0]["data"]["text/plain"] for file in files] == [["False"]] * 3


async def test_a_restart_leaves_a_clean_session_to_a_call_that_waits_for_it(plain_python: str, tmp_path: Path) -> None:
    go = tmp_path / "go"
    slow = written(tmp_path / "slow.ipynb", code(f"import os\nwhile not os.path.exists({str(go)!r}): pass"))
    quick = written(tmp_path / "quick.ipynb", code("1"))
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        group.start_soon(partial(ask, runtime, "run_all", slow, restart=True))
        await eventually(lambda: [session.key.id for session in pool_of(runtime).sessions] == ["default-clean"])
        (session,) = pool_of(runtime).sessions
        waiting = begin(group, runtime, "model = 'fitted'", session="default-clean")
        await eventually(lambda: session._turns.statistics().tasks_waiting == 1)
        result = await ask(runtime, "run_all", quick, restart=True)
        go.touch()
        assert not (await waiting.finish()).is_error
        assert (await call(runtime, "model", session="default-clean")).text == "'fitted'"
    assert run_details(result).session == "default-clean-2"


async def test_a_restart_says_nothing_of_a_session_that_there_is_not(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("1"))
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", file, restart=True, session="ghost")
    assert result.text.partition("Ran in session")[2] == " 'ghost-clean', with a fresh kernel."


async def test_a_restart_that_has_no_room_ends_no_session_with_work_in_it(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("1"))
    async with runtime_on(plain_python, tmp_path, max_sessions=2) as runtime:
        await call(runtime, "mine = 1")
        first = await ask(runtime, "run_all", file, restart=True)
        await call(runtime, "theirs = 1", session="other")  # This is an ordinary call, for which the check makes room.
        refused = await ask(runtime, "run_all", file, restart=True)
        assert (await call(runtime, "mine")).text == "1"
        assert (await call(runtime, "theirs", session="other")).text == "1"
    assert (first.is_error, refused.is_error) == (False, True)
    assert "No room for a kernel to run from scratch: at most 2 may be up, those of 'default', 'other'" in refused.text
    assert "python.maxSessions" in refused.text


async def test_a_failing_cell_is_the_last_that_runs(runtime: Runtime, tmp_path: Path) -> None:
    cells = [ran(code(source), "old\n", 9) for source in ("a = 1", "print('so far')\n1 / 0", "b = 1", "c = 1")]
    file = written(tmp_path / "a.ipynb", *cells)
    result = await ask(runtime, "run_all", file)
    found = run_details(result)
    assert (result.is_error, found.outcome, found.ran, found.not_run) == (True, "error", [0, 1], [2, 3])
    assert "\n\nCell 1 failed (exit code 1).\nNot run: cell 2, cell 3.\nRan 2 cells; the outputs are in " in result.text
    assert cells_in(file)[2:] == [{"id": f"c{index}", **cells[index]} for index in (2, 3)]
    printed, error = outputs_in(file, 1)
    assert printed["text"] == ["so far\n"]
    assert (error["output_type"], error["ename"], error["evalue"]) == ("error", "ZeroDivisionError", "division by zero")
    assert any("1 / 0" in line for line in error["traceback"])
    assert is_as_jupyter_writes_it(file)


async def test_a_cell_that_exits_with_0_did_not_fail(runtime: Runtime, tmp_path: Path) -> None:
    result = await ask(runtime, "run_all", written(tmp_path / "a.ipynb", code("import sys\nsys.exit(0)"), code("1")))
    assert "\n\nCell 0 exited with code 0.\nNot run: cell 1.\n" in result.text


async def test_with_keep_going_the_others_run_too(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("1 / 0"), code("print('still')"), code("undefined"))
    result = await ask(runtime, "run_all", file, keep_going=True)
    assert (result.is_error, run_details(result).ran) == (True, [0, 1, 2])
    assert "Cell 0 failed (exit code 1).\nCell 2 failed (exit code 1).\n" in result.text
    assert [outputs_in(file, index)[0].get("ename") for index in range(3)] == ["ZeroDivisionError", None, "NameError"]


async def test_of_very_many_cells_the_first_are_named_and_the_others_counted(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", *[code(source) for source in ["1 / 0", *["x"] * 999, *[""] * 999]])
    result = await ask(runtime, "run_all", file)
    assert f"\nNot run: {', '.join(f'cell {index}' for index in range(1, 21))} and 979 more.\n" in result.text
    assert "cell 1018 (empty), cell 1019 (empty) and 979 more.\n" in result.text
    found = run_details(result)
    assert (len(found.not_run), len(found.skipped)) == (999, 999)
    file = written(tmp_path / "b.ipynb", *[code("1 / 0")] * 22)
    result = await ask(runtime, "run_all", file, keep_going=True)
    assert "\nCell 19 failed (exit code 1).\n2 more failed.\nRan 22 cells; " in result.text
    error = run_details(result).error
    assert error is not None
    assert (error.cell, error.ename, error.evalue) == (0, "ZeroDivisionError", "division by zero")


async def test_an_exception_that_is_expected_is_no_failure(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("1 / 0", tags=["raises-exception"]), code("print('after')"))
    result = await ask(runtime, "run_all", file)
    assert (result.is_error, run_details(result).outcome, run_details(result).not_run) == (False, "ok", [])
    assert run_details(result).error is None
    assert "Failed as expected (raises-exception): cell 0.\n" in result.text
    assert (outputs_in(file, 0)[0]["ename"], text_in(file, 1)) == ("ZeroDivisionError", "after\n")


async def test_cells_that_are_not_to_be_run_are_left_as_they_are(runtime: Runtime, tmp_path: Path) -> None:
    cells = [
        ran(code("1 / 0", tags=["skip-execution"]), "old\n", 5),
        ran(code("  "), "odd\n", 6),
        markdown("print(1)"),
        code("print('ran')"),
    ]
    file = written(tmp_path / "a.ipynb", *cells)
    result = await ask(runtime, "run_all", file)
    assert "Skipped: cell 0 (tagged skip-execution), cell 1 (empty).\nRan 1 cell; " in result.text
    assert run_details(result).skipped == {0: "tagged skip-execution", 1: "empty"}
    assert cells_in(file)[:3] == [{"id": f"c{index}", **cell} for index, cell in enumerate(cells[:3])]
    assert text_in(file, 3) == "ran\n"


async def test_where_there_is_nothing_to_run_nothing_is_written(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", markdown("t"), code("", tags=[]), code("x", tags=["skip-execution"]))
    before = state_of(file)
    result = await ask(runtime, "run_all", file)
    one = await ask(runtime, "run", file, cell_index=2)
    assert result.text == ("There is no code to run.\nSkipped: cell 1 (empty), cell 2 (tagged skip-execution).")
    assert (result.is_error, run_details(result).ran) == (False, [])
    assert one.text == "There is no code to run.\nSkipped: cell 2 (tagged skip-execution)."
    assert state_of(file) == before


@pytest.mark.parametrize(
    ("action", "params", "expected"),
    [
        ("run", {"cell_index": 2}, [2]),
        ("run", {"cell_id": "c3"}, [3]),
        ("run", {"cell_index": 1, "last_index": 3}, [1, 2, 3]),
        ("run_until", {"cell_index": 2}, [0, 1, 2]),
        ("run_until", {"cell_id": "c1"}, [0, 1]),
        ("run_all", {}, [0, 1, 2, 3, 4]),
    ],
    ids=["one", "by id", "a range", "until", "until an id", "all"],
)
async def test_the_cells_that_were_asked_for_run_and_no_byte_of_the_others_changes(
    runtime: Runtime, tmp_path: Path, action: str, params: dict[str, int | str], expected: list[int]
) -> None:
    """The layout is none that Jupyter would write."""
    cell = '{"source":["print(N)"],"cell_type":"code","outputs":[ ],"id":"cN","execution_count":null, "metadata":{ } }'
    cells = [cell.replace("N", str(number)) for number in range(5)]
    text = '{"nbformat":4,"metadata":{ },\t"cells":[' + " ,".join(cells) + '],"nbformat_minor":5}'
    file = tmp_path / "odd.ipynb"
    file.write_bytes(text.encode())
    result = await ask(runtime, action, file, **params)
    assert run_details(result).ran == expected
    pieces = text
    for index in expected:
        count = cells_in(file)[index]["execution_count"]
        output = f'{{"name":"stdout","output_type":"stream","text":["{index}\\n"]}}'
        new = cells[index].replace('"outputs":[ ]', f'"outputs":[{output}]')
        pieces = pieces.replace(cells[index], new.replace('"execution_count":null', f'"execution_count":{count}'))
    assert file.read_bytes() == pieces.encode()


async def test_the_folder_of_the_notebook_is_where_its_cells_work(runtime: Runtime, tmp_path: Path) -> None:
    file = written(tmp_path / "sub" / "a.ipynb", code("import os\nprint(os.getcwd())"))
    (tmp_path / "elsewhere").mkdir()
    first = await ask(runtime, "run_all", file)
    assert text_in(file, 0) == f"{tmp_path / 'sub'}\n"
    assert f"\nThe session works in {tmp_path / 'sub'} from now on." in first.text
    second = await ask(runtime, "run_all", file)
    assert "works in" not in second.text
    await ask(runtime, "run_all", file, cwd=str(tmp_path / "elsewhere"))
    assert text_in(file, 0) == f"{tmp_path / 'elsewhere'}\n"


async def test_a_notebook_whose_kernel_is_not_there_is_not_run_in_python(runtime: Runtime, tmp_path: Path) -> None:
    metadata = {"kernelspec": {"name": "nope", "display_name": "R", "language": "R"}}
    file = written(tmp_path / "a.ipynb", code("print(1)"), metadata=metadata)
    before = state_of(file)
    result = await ask(runtime, "run_all", file)
    assert result.text.startswith("Error: There is no kernel for the language 'nope'. Nothing was run.\nAvailable: py")
    assert state_of(file) == before


async def test_a_link_to_a_notebook_works_in_the_folder_of_the_link_as_in_jupyter(
    runtime: Runtime, tmp_path: Path
) -> None:
    file = written(tmp_path / "shared" / "a.ipynb", code("import os\nprint(os.getcwd())"))
    (tmp_path / "project").mkdir()
    link = tmp_path / "project" / "b.ipynb"
    link.symlink_to(file)
    await ask(runtime, "run_all", link)
    assert text_in(file, 0) == f"{tmp_path / 'project'}\n"


async def test_displays_are_updated_in_this_cell_and_in_earlier_ones(ipython: Runtime, tmp_path: Path) -> None:
    file = written(
        tmp_path / "a.ipynb",
        code("from IPython.display import display, update_display\ndisplay('first', display_id='d')\nprint('between')"),
        code("print('nothing')"),
        code("update_display('second', display_id='d')\nupdate_display('x', display_id='unknown')"),
    )
    result = await ask(ipython, "run_all", file)
    assert not result.is_error
    shown, printed = outputs_in(file, 0)
    assert shown == {"data": {"text/plain": ["'second'"]}, "metadata": {}, "output_type": "display_data"}
    assert (printed["text"], outputs_in(file, 2)) == (["between\n"], [])
    assert is_as_jupyter_writes_it(file)


async def test_what_a_cell_clears_is_gone(ipython: Runtime, tmp_path: Path) -> None:
    file = written(
        tmp_path / "a.ipynb",
        code("from IPython.display import clear_output\nprint('a')\nclear_output()\nprint('b')"),
        code("for n in range(3):\n    clear_output(wait=True)\n    print(n)"),
        code("print('stays')\nclear_output(wait=True)"),
    )
    await ask(ipython, "run_all", file)
    assert [text_in(file, index) for index in range(3)] == ["b\n", "2\n", "stays\n"]


async def test_pictures_are_in_the_file_and_in_the_reply(ipython_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("import matplotlib.pyplot as plt\nplt.plot([1, 2]);"))
    async with runtime_on(ipython_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", file)
    (output,) = outputs_in(file, 0)
    assert sorted(output["data"]) == ["image/png", "text/plain"]
    (block,) = [block for block in result.content if isinstance(block, ImageBlock)]
    assert block.data == output["data"]["image/png"].replace("\n", "")
    assert is_as_jupyter_writes_it(file)


async def test_in_per_call_mode_each_run_has_a_kernel_of_its_own(plain_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("x = 1"), code("'x' in globals()"))
    async with runtime_on(plain_python, tmp_path, kernel_mode="per-call") as runtime:
        result = await ask(runtime, "run_all", "a.ipynb")
        assert outputs_in(file, 1)[0]["data"] == {"text/plain": ["True"]}
        await ask(runtime, "run", "a.ipynb", cell_index=1)
        assert outputs_in(file, 1)[0]["data"] == {"text/plain": ["False"]}
        restarted = await ask(runtime, "run_all", "a.ipynb", restart=True)
    assert (result.is_error, restarted.is_error) == (False, False)
