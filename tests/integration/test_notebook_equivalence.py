"""Real notebooks that `notebook run_all` runs have the outputs that nbclient and papermill give them, cell by cell."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE
from tests.fakes.notebook_likeness import likeness
from tests.fakes.notebook_peers import TERMINAL, Notebook, PeerRun, problems, run_with
from tests.fakes.runtimes import call, runtime_on
from tests.notebook_corpus import FOLDER, corpus, corpus_id, notebooks_interpreter

pytestmark = pytest.mark.heavy

NBCLIENT, PAPERMILL, NBCONVERT = "nbclient/tests/files", "papermill/papermill/tests/notebooks", "nbconvert/tests"
PEER_ONLY = f"{NBCLIENT}/update-display-id.ipynb"
"""It sends messages through ipykernel itself, which our own kernel has not."""
USAGE_ERROR = f"{PAPERMILL}/line_magic_error.ipynb"

OF_NBCLIENT = [
    "Clear Output",
    "Empty Cell",
    "Error",
    "Factorials",
    "HelloWorld",
    "Inline Image",
    "JupyterWidgets",
    "Other Comms",
    "SVG",
    "Skip Exceptions",
    "Skip Exceptions with Cell Tags",
    "Skip Execution with Cell Tag",
    "Sleep1s",
    "Unicode",
    "UnicodePy3",
    "update-display-id",
]
OF_PAPERMILL = ["broken", "broken1", "complex_parameters", "read_check", "simple_execute", "sysexit", "test_logging"]
MORE_OF_PAPERMILL = [
    "blank-vscode",
    "broken2",
    "nb_version_4.4",
    "no_parameters",
    "report_mode_test",
    "result_no_exec",
    "sysexit0",
    "sysexit1",
    "systemexit",
    "test_autosave",
    "test_notebooknode_io",
]
"""They show little that the others do not, and `test_autosave` takes its time."""
OF_OTHERS = [
    "jupytext/tests/data/notebooks/inputs/ipynb_py/Notebook with html and latex cells.ipynb",
    f"{NBCONVERT}/exporters/files/rst_output.ipynb",
    f"{NBCONVERT}/files/notebook3_with_errors.ipynb",
    f"{NBCONVERT}/files/notebook4_jpeg.ipynb",
    "nbformat/tests/test4.5.ipynb",
    "nbformat/tests/test4custom.ipynb",
]
COMPARED = [
    *(f"{NBCLIENT}/{name}.ipynb" for name in OF_NBCLIENT),
    *(f"{PAPERMILL}/{name}.ipynb" for name in OF_PAPERMILL),
    *OF_OTHERS,
]
COMPARED_TOO = [f"{PAPERMILL}/{name}.ipynb" for name in MORE_OF_PAPERMILL]
NOT_COMPARED = {
    f"{NBCLIENT}/Autokill.ipynb": "ends its kernel; nbclient gives up, we tell what became of the session",
    f"{NBCLIENT}/Check History in Memory.ipynb": "asks for an option of ipykernel that nbclient starts it with",
    f"{NBCLIENT}/Disable Stdin.ipynb": "another exception, and a clearer one",
    f"{NBCLIENT}/Interrupt.ipynb": "does not end by itself",
    f"{NBCLIENT}/Output.ipynb": "needs a front end that takes what is printed into a widget",
    f"{NBCLIENT}/Parallel Execute A.ipynb": "needs the other one at the same time",
    f"{NBCLIENT}/Parallel Execute B.ipynb": "needs the other one at the same time",
    USAGE_ERROR: "IPython writes such an error as text and publishes none; with us a cell that fails has an error",
    f"{PAPERMILL}/binder.ipynb": "runs papermill in a folder that is not here",
    f"{PAPERMILL}/gcs/gcs_in/gcs-simple_notebook.ipynb": "sleeps for 14 seconds",
    f"{PAPERMILL}/keyboard_interrupt.ipynb": "sleeps for a minute",
    f"{PAPERMILL}/notimplemented_translator.ipynb": "in R, of which there is no kernel here",
    f"{PAPERMILL}/s3/s3_in/s3-simple_notebook.ipynb": "the same as no_parameters",
}
"""The other notebooks of nbclient and papermill, and why they are not compared. Tests of their own run some of them."""
ON_JUPYTER_KERNELS = [
    *(f"{NBCLIENT}/{name}.ipynb" for name in ("Clear Output", "JupyterWidgets", "Skip Exceptions with Cell Tags")),
    PEER_ONLY,
]
MORE_ON_JUPYTER_KERNELS = [f"{NBCLIENT}/Inline Image.ipynb", f"{PAPERMILL}/sysexit.ipynb"]
SECOND_OPINION = [
    f"{NBCLIENT}/Clear Output.ipynb",
    f"{PAPERMILL}/broken1.ipynb",
    f"{PAPERMILL}/simple_execute.ipynb",
]
MORE_OPINIONS = [
    *(f"{NBCLIENT}/{name}.ipynb" for name in ("Inline Image", "SVG", "Skip Execution with Cell Tag")),
    f"{PAPERMILL}/sysexit1.ipynb",
]
PARALLEL = "NBEXECUTE_TEST_PARALLEL_TMPDIR"


def heavy(names: Sequence[str]) -> Iterator[Any]:
    """Parameters that `make test` leaves out."""
    return (pytest.param(name, marks=pytest.mark.heavy) for name in names)


def copy_of(name: str, folder: Path) -> Path:
    """A copy of a notebook of the corpus in a folder of its own, with the pictures that are beside it."""
    source = FOLDER / name
    target = folder / source.relative_to(FOLDER).with_suffix("") / source.name
    target.parent.mkdir(parents=True)
    for path in (source, *source.parent.glob("*.png"), *source.parent.glob("*.jpeg")):
        shutil.copyfile(path, target.parent / path.name)
    return target


def peer_runs(program: str, names: Sequence[str], folder: Path) -> dict[str, PeerRun]:
    copies = [copy_of(name, folder) for name in names]
    runs = run_with(program, notebooks_interpreter(), copies, folder / "runs")
    return dict(zip(names, runs, strict=True))


def asked_for(request: pytest.FixtureRequest) -> list[str]:
    """The notebooks for which tests of this run want a fixture. They are run together: one by one takes far longer."""
    tests = [item for item in request.session.items if isinstance(item, pytest.Function)]
    wanted = [test for test in tests if test.path == request.path and request.fixturename in test.fixturenames]
    return list(dict.fromkeys(str(test.callspec.params["name"]) for test in wanted))


@pytest.fixture(scope="module")
def peer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("peers")


@pytest.fixture(scope="module")
def by_nbclient(request: pytest.FixtureRequest, peer_folder: Path) -> dict[str, PeerRun]:
    return peer_runs("nbclient", asked_for(request), peer_folder / "nbclient")


@pytest.fixture(scope="module")
def by_papermill(request: pytest.FixtureRequest, peer_folder: Path) -> dict[str, PeerRun]:
    return peer_runs("papermill", asked_for(request), peer_folder / "papermill")


class Run:
    """A notebook of the corpus after our run of it."""

    def __init__(self, path: Path, before: Notebook, result: ToolResult) -> None:
        self.folder = str(path.parent)
        self.before = before
        self.notebook: Notebook = json.loads(path.read_bytes())
        self.result = result

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Its code cells."""
        return code_cells(self.notebook)


async def run_all(runtime: Runtime, name: str, folder: Path, **params: Any) -> Run:
    """Run a notebook."""
    path = copy_of(name, folder)
    before = json.loads(path.read_bytes())
    asked = {"action": "run_all", "notebook_path": str(path), **params}
    with anyio.fail_after(PATIENCE):
        return Run(path, before, await runtime.tool("notebook", asked))


async def runs_on(backend: str, names: Sequence[str], folder: Path) -> dict[str, Run]:
    """Our runs of notebooks, one after the other in one session."""
    async with runtime_on(notebooks_interpreter(), folder, environ=TERMINAL, backend=backend) as runtime:
        return {name: await run_all(runtime, name, folder, restart=True) for name in names}


@pytest.fixture(scope="module")
def on_native(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    return anyio.run(runs_on, "native", asked_for(request), tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="module")
def on_jupyter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    return anyio.run(runs_on, "zmq", asked_for(request), tmp_path_factory.mktemp("zmq"))


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Runtime]:
    async with runtime_on(notebooks_interpreter(), tmp_path) as made:
        yield made


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def without_outputs(notebook: Notebook) -> Notebook:
    cells = [
        {key: value for key, value in cell.items() if key not in ("outputs", "execution_count")}
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def check_like_nbclient(run: Run, name: str, peer: PeerRun, peer_folder: Path) -> None:
    """The same cells ran, with the same numbers and outputs, and the run ended in the same way."""
    folder = str((peer_folder / "nbclient" / name).with_suffix(""))
    theirs = code_cells(peer.notebook)
    for own, other in zip(run.cells, theirs, strict=True):
        assert likeness(own["outputs"], run.folder) == likeness(other["outputs"], folder)
    assert [cell["execution_count"] for cell in run.cells] == [cell["execution_count"] for cell in theirs]
    assert run.result.is_error == bool(peer.failure)
    assert without_outputs(run.notebook) == without_outputs(run.before)
    assert not problems(run.notebook) or problems(run.before)


@pytest.mark.parametrize("name", [*(name for name in COMPARED if name != PEER_ONLY), *heavy(COMPARED_TOO)])
def test_on_our_own_kernel_the_outputs_are_those_of_nbclient(
    name: str, on_native: dict[str, Run], by_nbclient: dict[str, PeerRun], peer_folder: Path
) -> None:
    check_like_nbclient(on_native[name], name, by_nbclient[name], peer_folder)


@pytest.mark.parametrize("name", [*ON_JUPYTER_KERNELS, *heavy(MORE_ON_JUPYTER_KERNELS)])
def test_on_a_jupyter_kernel_the_outputs_are_those_of_nbclient(
    name: str, on_jupyter: dict[str, Run], by_nbclient: dict[str, PeerRun], peer_folder: Path
) -> None:
    check_like_nbclient(on_jupyter[name], name, by_nbclient[name], peer_folder)


@pytest.mark.parametrize("name", [*SECOND_OPINION, *heavy(MORE_OPINIONS)])
def test_papermill_gives_the_cells_that_ran_the_same_outputs(
    name: str, on_native: dict[str, Run], by_papermill: dict[str, PeerRun], peer_folder: Path
) -> None:
    run = on_native[name]
    folder = str((peer_folder / "papermill" / name).with_suffix(""))
    ran = [
        (own, other)
        for own, other in zip(run.cells, code_cells(by_papermill[name].notebook), strict=True)
        if other["execution_count"] is not None
    ]
    assert ran
    for own, other in ran:
        assert own["execution_count"] == other["execution_count"]
        assert likeness(own["outputs"], run.folder) == likeness(other["outputs"], folder)
    assert run.result.is_error == bool(by_papermill[name].failure)


def test_every_notebook_of_nbclient_and_papermill_is_compared_or_has_a_reason_not_to_be() -> None:
    there = {corpus_id(path) for project in ("nbclient", "papermill") for path in corpus(project)}
    assert there == {*COMPARED, *COMPARED_TOO, *NOT_COMPARED}.difference(OF_OTHERS)
    assert NOT_COMPARED.keys().isdisjoint([*COMPARED, *COMPARED_TOO])


@pytest.mark.parametrize("name", [USAGE_ERROR])
def test_a_wrong_magic_is_an_error_of_its_cell_and_says_what_ipython_says(
    name: str, on_native: dict[str, Run], by_nbclient: dict[str, PeerRun]
) -> None:
    run = on_native[name]
    first, second = run.cells
    ((error,), (text,)) = first["outputs"], code_cells(by_nbclient[name].notebook)[0]["outputs"]
    assert "".join(text["text"]).strip() == f"{error['ename']}: {error['evalue']}"
    assert second["execution_count"] is None
    assert run.result.is_error


async def test_a_kernel_that_ends_itself_is_told_in_the_notebook_and_in_the_result(
    runtime: Runtime, tmp_path: Path
) -> None:
    run = await run_all(runtime, f"{NBCLIENT}/Autokill.ipynb", tmp_path)
    ((error,),) = (cell["outputs"] for cell in run.cells)
    assert (error["ename"], error["evalue"]) == ("KernelDied", "The kernel was ended by SIGTERM")
    assert run.result.is_error
    assert run.result.text.startswith("[State: ")


async def test_a_notebook_that_asks_for_input_fails_at_once(runtime: Runtime, tmp_path: Path) -> None:
    run = await run_all(runtime, f"{NBCLIENT}/Disable Stdin.ipynb", tmp_path)
    ((error,),) = (cell["outputs"] for cell in run.cells)
    assert error["ename"] == "StdinNotSupported"
    assert run.result.is_error


@pytest.mark.parametrize("keep_going", [False, True])
async def test_a_cell_that_does_not_end_is_interrupted_and_the_next_one_is_not_run(
    keep_going: bool, runtime: Runtime, tmp_path: Path
) -> None:
    name = f"{NBCLIENT}/Interrupt.ipynb"
    await call(runtime, "pass")  # The time is for the cell, not for the start.
    run = await run_all(runtime, name, tmp_path, timeout=1, keep_going=keep_going)
    endless, after = run.cells
    assert [output["ename"] for output in endless["outputs"]] == ["KeyboardInterrupt"]
    assert after == run.before["cells"][1]
    assert "Command timed out after 1 seconds" in run.result.text
    assert "Not run: cell 1." in run.result.text
    path = str(Path(run.folder) / "Interrupt.ipynb")
    again = await runtime.tool("notebook", {"action": "run", "notebook_path": path, "cell_index": 1})
    assert again.text.startswith("done\n")


async def test_where_nobody_takes_output_into_a_widget_it_stays_in_its_cell(runtime: Runtime, tmp_path: Path) -> None:
    run = await run_all(runtime, f"{NBCLIENT}/Output.ipynb", tmp_path)
    assert not run.result.is_error
    assert [cell["execution_count"] for cell in run.cells] == list(range(1, len(run.cells) + 1))
    (text,) = run.cells[-1]["outputs"]
    assert text["text"] == ["in inner\n", "in outer\n", "also in inner\n"]


async def test_two_notebooks_run_at_the_same_time_in_two_sessions(runtime: Runtime, tmp_path: Path) -> None:
    runs: list[Run] = []

    async def run(letter: str) -> None:
        name = f"{NBCLIENT}/Parallel Execute {letter}.ipynb"
        await call(runtime, f"import os; os.environ['{PARALLEL}'] = {str(tmp_path)!r}", session=letter)
        runs.append(await run_all(runtime, name, tmp_path, session=letter))

    async with anyio.create_task_group() as group:
        group.start_soon(run, "A")
        group.start_soon(run, "B")
    assert [run.result.is_error for run in runs] == [False, False], [run.result.text for run in runs]
    assert all([cell["execution_count"] for cell in run.cells] == [2, 3, 4] for run in runs)
