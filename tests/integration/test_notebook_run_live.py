"""While a cell runs its output is in the file already, and the file is whole at every moment."""

import json
import threading
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
    markdown,
    ran,
    run_details,
    sources_in,
    text_in,
    written,
)
from tests.fakes.runtimes import runtime_on


class Reader:
    """Reads a file over and over, as somebody does who has it open."""

    def __init__(self, file: Path) -> None:
        self.reads = 0
        self.broken: list[str] = []
        self.seen: set[str] = set()
        self._file = file
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._stop.is_set():
            data = self._file.read_bytes()
            self.reads += 1
            try:
                self.seen.add("".join(json.loads(data)["cells"][0]["outputs"][0]["text"]))
            except IndexError:
                pass  # It has no outputs yet.
            except ValueError as error:
                self.broken.append(str(error))


@pytest.mark.parametrize("interpreter", ["plain_python", "ipython_python"])
async def test_what_a_cell_has_printed_is_in_the_file_while_it_runs(
    request: pytest.FixtureRequest, tmp_path: Path, interpreter: str
) -> None:
    gates = [tmp_path / name for name in ("one", "two")]
    wait = "print({n}, flush=True)\nwhile not os.path.exists({gate!r}): time.sleep(0.01)\n"
    source = "import os, time\n" + "".join(wait.format(n=n, gate=str(gate)) for n, gate in enumerate(gates))
    file = written(tmp_path / "a.ipynb", ran(code(source), "old\n", 9), markdown("# beside"))
    async with (
        runtime_on(request.getfixturevalue(interpreter), tmp_path) as runtime,
        anyio.create_task_group() as group,
    ):
        with Reader(file) as reader:
            asked = begin_asking(group, runtime, "run", "a.ipynb", cell_index=0)
            await eventually(lambda: text_in(file, 0) == "0\n", within=PATIENCE)
            assert (cells_in(file)[0]["execution_count"], asked.ended.is_set()) == (None, False)
            gates[0].touch()
            await eventually(lambda: text_in(file, 0) == "0\n1\n", within=PATIENCE)
            assert not asked.ended.is_set()
            gates[1].touch()
            result = await asked.finish()
    assert not result.is_error
    assert cells_in(file)[0]["execution_count"] == 1
    assert (reader.broken, {"0\n", "0\n1\n"} <= reader.seen) == ([], True)
    assert is_as_jupyter_writes_it(file)


async def test_what_somebody_edits_beside_a_running_cell_stays(plain_python: str, tmp_path: Path) -> None:
    """Another process that goes by the lock, and one that does not, write while a cell runs."""
    gate = tmp_path / "gate"
    source = f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)"
    file = written(tmp_path / "a.ipynb", code("1 + 1"), code(source), code("2 + 2"))
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        asked = begin_asking(group, runtime, "run_all", "a.ipynb")
        await eventually(lambda: text_in(file, 1) == "begun\n", within=PATIENCE)
        await ask(runtime, "insert", "a.ipynb", cell_index=0, content="by the tool", cell_type="markdown")
        value = json.loads(file.read_text(encoding="utf-8"))
        value["cells"].append(markdown("by hand", "hand"))
        file.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        gate.touch()
        result = await asked.finish()
    assert (result.is_error, run_details(result).written) == (False, True)
    assert sources_in(file) == ["by the tool", "1 + 1", source, "2 + 2", "by hand"]
    assert [cell.get("execution_count") for cell in cells_in(file)] == [None, 1, 2, 3, None]
    assert is_as_jupyter_writes_it(file)


async def test_two_notebooks_take_turns_in_one_session(plain_python: str, tmp_path: Path) -> None:
    source = "order = globals().get('order', '') + '{name}'\nprint(order)"
    files = [written(tmp_path / f"{name}.ipynb", code(source.format(name=name))) for name in "ab"]
    async with runtime_on(plain_python, tmp_path) as runtime, anyio.create_task_group() as group:
        both = [begin_asking(group, runtime, "run_all", file) for file in files]
        results = [await asked.finish() for asked in both]
    assert [result.is_error for result in results] == [False, False]
    assert [text_in(file, 0) for file in files] in (["a\n", "ab\n"], ["ba\n", "b\n"])
