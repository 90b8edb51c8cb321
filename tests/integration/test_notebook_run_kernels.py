"""Notebooks on other kernels than our own: Jupyter's, and those of other languages."""

from pathlib import Path

import anyio
import pytest

from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.notebooks import (
    ask,
    begin_asking,
    cells_in,
    code,
    is_as_jupyter_writes_it,
    outputs_in,
    run_details,
    state_of,
    text_in,
    written,
)
from tests.fakes.runtimes import call, kernel_of, runtime_on

BASH = {"kernelspec": {"display_name": "Bash", "language": "bash", "name": "bash"}, "language_info": {"name": "bash"}}


async def test_a_jupyter_kernel_leaves_the_same_as_our_own(jupyter_python: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    wait = f"import os, sys, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    cells = [
        code(f"print('begun', flush=True)\n{wait}print('ended')\nprint('err', file=sys.stderr)"),
        code("from IPython.display import display, clear_output, update_display\ndisplay('old', display_id='d')"),
        code("print('gone')\nclear_output()\nupdate_display('new', display_id='d')\n6 * 7"),
        code("1 / 0", tags=["raises-exception"]),
        code("print(os.path.basename(os.getcwd()))"),
    ]
    file = written(tmp_path / "sub" / "a.ipynb", *cells)
    async with runtime_on(jupyter_python, tmp_path, backend="zmq") as runtime, anyio.create_task_group() as group:
        asked = begin_asking(group, runtime, "run_all", "sub/a.ipynb")
        await eventually(lambda: text_in(file, 0) == "begun\n", within=PATIENCE)
        gate.touch()
        result = await asked.finish()
        assert kernel_of(result).backend == "zmq"
        assert (await call(runtime, "os.path.exists('a.ipynb')")).text == "True"
    assert (result.is_error, run_details(result).ran) == (False, [0, 1, 2, 3, 4])
    assert [(output["name"], output["text"]) for output in outputs_in(file, 0)] == [
        ("stdout", ["begun\n", "ended\n"]),
        ("stderr", ["err\n"]),
    ]
    assert outputs_in(file, 1)[0]["data"] == {"text/plain": ["'new'"]}
    assert outputs_in(file, 2)[0]["data"] == {"text/plain": ["42"]}
    assert outputs_in(file, 3)[0]["ename"] == "ZeroDivisionError"
    assert text_in(file, 4) == "sub\n"
    assert [cell["execution_count"] for cell in cells_in(file)] == [1, 2, 3, 4, 5]
    assert is_as_jupyter_writes_it(file)


async def test_the_end_of_a_jupyter_kernel_is_told_in_the_notebook(jupyter_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("import os; os._exit(3)"), code("never"))
    async with runtime_on(jupyter_python, tmp_path, backend="zmq") as runtime:
        result = await ask(runtime, "run_all", "a.ipynb")
    assert (result.is_error, run_details(result).not_run) == (True, [1])
    assert [output.get("ename") for output in outputs_in(file, 0)] == ["KernelDied"]
    assert is_as_jupyter_writes_it(file)


async def test_a_notebook_in_another_language_runs_on_its_own_kernel(jupyter_python: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a.ipynb", code("x=5; echo $((x + 1))"), code("echo $x; pwd"), metadata=BASH)
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", "a.ipynb")
        again = await ask(runtime, "run", "a.ipynb", cell_index=1)
        python = await call(runtime, "'x' in globals()")
    assert (result.is_error, kernel_of(result).interpreter) == (False, "kernelspec bash")
    assert (text_in(file, 0), text_in(file, 1)) == ("6\n", f"5\n{tmp_path}\n")
    assert not again.is_error
    assert python.text == "False"
    assert is_as_jupyter_writes_it(file)


@pytest.mark.parametrize("name", ["ir", "python-of-my-dreams"])
async def test_a_language_that_is_not_there_is_refused_and_nothing_runs_in_python(
    plain_python: str, tmp_path: Path, name: str
) -> None:
    metadata = {"kernelspec": {"display_name": "R", "language": "R", "name": name}, "language_info": {"name": "R"}}
    file = written(tmp_path / "a.ipynb", code("open('ran', 'w')"), metadata=metadata)
    before = state_of(file)
    async with runtime_on(plain_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", "a.ipynb")
    assert (result.is_error, name in result.text) == (True, True)
    assert not (tmp_path / "ran").exists()
    assert state_of(file) == before


async def test_a_kernel_that_is_asked_for_goes_before_that_of_the_notebook(
    jupyter_python: str, plain_python: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.ipynb", code("import sys; print(sys.executable)"), metadata=BASH)
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        result = await ask(runtime, "run_all", "a.ipynb", kernel=plain_python)
    assert (result.is_error, text_in(file, 0)) == (False, f"{plain_python}\n")
