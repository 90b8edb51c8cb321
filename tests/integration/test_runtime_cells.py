"""Cells through the whole line, on IPython's shell and on the built-in one: what they say, and what the result says."""

import base64
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from pisces.model.results import ImageBlock, TextBlock
from pisces.runtime import Runtime
from tests.fakes.runtimes import Watcher, call, details, runtime_on

RICH = """
try:
    from IPython.display import display
except ImportError:
    pass
def show(**bundle):
    display({kind.replace('__', '/').replace('_', '-'): data for kind, data in bundle.items()}, raw=True)
"""


@pytest.fixture(scope="module", params=["plain_python", "ipython_python"])
async def runtime(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """One kernel for all cases that leave it alive."""
    folder = tmp_path_factory.mktemp("cwd")
    async with runtime_on(request.getfixturevalue(request.param), folder) as made:
        await call(made, RICH)
        yield made


def text_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


async def test_one_cell_gives_its_output(runtime: Runtime) -> None:
    result = await call(runtime, "print('hello')\n6 * 7")
    assert (result.text, result.is_error, details(result).outcome) == ("hello\n42", False, "ok")


async def test_names_last_from_call_to_call(runtime: Runtime) -> None:
    await call(runtime, "remembered = 41")
    assert (await call(runtime, "remembered + 1")).text == "42"


async def test_several_cells_are_headed_and_silent_ones_are_ok(runtime: Runtime) -> None:
    result = await runtime.python(
        cells=[{"code": "print('a')", "title": "load"}, {"code": "x = 1", "title": "set"}, {"code": "x"}]
    )
    assert result.text == "[1/3] load\na\n[2/3] set (ok)\n[3/3]\n1"
    assert [record.title for record in details(result).cells] == ["load", "set", ""]
    assert [record.output for record in details(result).cells] == ["a\n", "", "1\n"]


async def test_a_cell_that_exits_with_0_did_not_fail(runtime: Runtime) -> None:
    result = await call(runtime, ["kept = 1", "import sys\nsys.exit(0)", "never = 1"])
    assert result.text.endswith("Cell 2 exited with code 0. Earlier cells succeeded; their state persists.")
    assert (await call(runtime, "kept, 'never' in dir()")).text == "(1, False)"


async def test_a_byte_order_mark_in_front_of_code_is_left_out(runtime: Runtime) -> None:
    assert (await call(runtime, "\ufeffx = 41\nx + 1")).text == "42"
    assert (await call(runtime, "\ufeff%%time\nx")).text.startswith("CPU times")


async def test_the_first_failing_cell_is_the_last_that_runs(runtime: Runtime) -> None:
    result = await call(runtime, ["kept = 1", "print('before')\n1 / 0", "never = 1"])
    assert result.text.endswith(
        "Cell 2 failed (exit code 1). Earlier cells succeeded; their state persists. Fix only cell 2."
    )
    assert "before\n" in result.text
    assert "ZeroDivisionError" in result.text
    found = details(result)
    assert (found.outcome, found.is_error, result.is_error) == ("error", True, True)
    assert [record.status for record in found.cells] == ["complete", "error", "pending"]
    assert [record.exit_code for record in found.cells] == [0, 1, None]
    assert (await call(runtime, "kept, 'never' in globals()")).text == "(1, False)"


async def test_with_keep_going_the_cells_after_an_error_run_too(runtime: Runtime) -> None:
    result = await call(runtime, ["1 / 0", "print('still')", "undefined_name"], keep_going=True)
    assert "still" in result.text
    assert result.text.endswith("2 cells failed: cell 1 (exit code 1), cell 3 (exit code 1).")
    assert details(result).outcome == "error"


@pytest.mark.parametrize(("code", "number"), [("1 / 0", 1), ("import sys; sys.exit(7)", 7), ("raise SystemExit", 0)])
async def test_a_failing_single_cell_ends_with_its_exit_code(runtime: Runtime, code: str, number: int) -> None:
    result = await call(runtime, code)
    assert result.text.endswith(f"\n\nCommand exited with code {number}")
    assert (details(result).cells[0].exit_code, details(result).is_error) == (number, True)


async def test_nothing_at_all_is_said_to_be_so(runtime: Runtime) -> None:
    assert (await call(runtime, "y = 1")).text == "(no output)"
    assert (await call(runtime, "")).text == "(no output)"


async def test_a_failing_silent_cell_is_headed_without_ok(runtime: Runtime) -> None:
    result = await call(runtime, ["pass", "import os; os.write(1, b''); raise SystemExit(3)"])
    assert "[1/2] (ok)\n[2/2]\n" in result.text


async def test_input_is_refused_at_once_and_the_kernel_stays_usable(runtime: Runtime) -> None:
    result = await call(runtime, "input('name? ')")
    assert "Kernel requested stdin; interactive input is not supported." in result.text
    assert result.text.count("Kernel requested stdin") == 1
    assert result.text.endswith("Command exited with code 1")
    assert (details(result).stdin_requested, details(result).outcome) == (True, "error")
    caught = await call(runtime, "try:\n    input()\nexcept EOFError:\n    print('caught')")
    assert (details(caught).stdin_requested, details(caught).cells[0].exit_code) == (True, 1)
    assert (await call(runtime, "1 + 1")).text == "2"


async def test_a_password_is_refused_too(runtime: Runtime) -> None:
    result = await call(runtime, "import getpass; getpass.getpass()")
    assert details(result).stdin_requested


async def test_json_is_a_block_of_its_own_and_cut_with_a_word(runtime: Runtime) -> None:
    result = await call(runtime, "show(application__json={'a': [1, 2]})\nshow(application__json=['x' * 10000])")
    assert result.text == "(no text output)"
    first, second = [block.text for block in result.content[1:] if isinstance(block, TextBlock)]
    assert first == 'display[1]:\n{\n  "a": [\n    1,\n    2\n  ]\n}'
    assert second.startswith("display[2]:\n")
    body, _, note = second.removeprefix("display[2]:\n").rpartition("\n")
    assert len(body) == 8000
    assert note == "[… 2008 more characters of JSON]"
    assert details(result).json_outputs == [{"a": [1, 2]}, ["x" * 10000]]


async def test_a_picture_is_scaled_for_the_model_and_kept_as_it_was(runtime: Runtime) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (3136, 100)).save(picture, "PNG")
    data = base64.b64encode(picture.getvalue()).decode("ascii")
    result = await call(runtime, f"show(image__png={data!r}, text__plain='<figure>')")
    (block,) = [block for block in result.content if isinstance(block, ImageBlock)]
    with Image.open(io.BytesIO(base64.b64decode(block.data))) as scaled:
        assert scaled.size == (1568, 50)
    (image,) = details(result).images
    assert (image.data, image.width, image.height, image.cell) == (data, 3136, 100, 0)
    assert result.text == "<figure>"


async def test_a_status_is_an_event_and_no_text(runtime: Runtime) -> None:
    code = "display({'application/x-pisces-status': {'op': 'read', 'path': 'x'}}, raw=True)\n"
    code += "display({'application/x-omp-status': {'op': 'write'}}, raw=True)"
    result = await call(runtime, code)
    assert result.text == "(no output)"
    events = details(result).status_events
    assert [(event.op, dict(event.data)) for event in events] == [("read", {"path": "x"}), ("write", {})]
    assert details(result).cells[0].status_events == events


async def test_markdown_marks_the_cell(runtime: Runtime) -> None:
    result = await call(runtime, ["show(text__markdown='# Title', text__plain='Title')", "print(1)"])
    assert [record.has_markdown for record in details(result).cells] == [True, False]
    assert "# Title" in result.text


async def test_a_display_that_is_updated_shows_its_last_state(runtime: Runtime) -> None:
    code = "display({'text/plain': 'first'}, raw=True, display_id='d')\n"
    code += "display({'text/plain': 'last'}, raw=True, display_id='d', update=True)"
    result = await call(runtime, code)
    assert result.text.endswith("last")


async def test_the_namespace_changes_are_told_in_order(runtime: Runtime) -> None:
    await call(runtime, "old = [1]; gone = 2; same = 3")
    result = await call(runtime, ["new = 'abc'; also = {1: 2}", "old = [1, 2]; del gone; _hidden = 1; new = 'abcd'"])
    variables = details(result).variables
    assert variables is not None
    assert [(one.name, one.type, one.size) for one in variables.added] == [("also", "dict", "1"), ("new", "str", "4")]
    assert [(one.name, one.size) for one in variables.changed] == [("old", "2")]
    assert (variables.removed, variables.more) == (("gone",), 0)


async def test_at_most_twenty_names_are_told(runtime: Runtime) -> None:
    result = await call(runtime, "globals().update({f'name_{n:02}': n for n in range(30)})")
    variables = details(result).variables
    assert variables is not None
    assert [one.name for one in variables.added] == [f"name_{n:02}" for n in range(20)]
    assert variables.more == 10


async def test_long_output_is_cut_and_the_artifact_has_all_of_it(runtime: Runtime) -> None:
    result = await call(runtime, "for n in range(10000): print('line', n)")
    found = details(result)
    assert found.truncation is not None
    assert (found.truncation.total_lines, found.artifact_id is not None) == (10000, True)
    assert f"Read artifact://{found.artifact_id} for full output]" in result.text
    assert len(result.text.encode("utf-8")) < 60_000
    assert found.full_output_path is not None
    assert text_of(found.full_output_path) == "".join(f"line {n}\n" for n in range(10000))
    assert result.text.startswith("line 0\n")
    assert "line 9999\n" in result.text


async def test_updates_show_how_things_stand_and_end_with_the_last_state(runtime: Runtime) -> None:
    watcher = Watcher()
    await call(runtime, ["print('one')", "for n in range(20000): print(n)", "1 / 0"], on_update=watcher)
    states = [tuple(record.status for record in update.cells) for update in watcher.updates]
    assert states[0] == ("running", "pending", "pending")
    assert states[-1] == ("complete", "complete", "error")
    assert ("complete", "running", "pending") in states
    assert len(states) < 200, "updates are not one per line"
    assert "ZeroDivisionError" in watcher.updates[-1].tail
    assert len(watcher.updates[-1].tail.encode("utf-8")) <= 100 * 1024


async def test_a_record_says_when_and_as_what_it_ran(runtime: Runtime) -> None:
    result = await call(runtime, ["1", "2"])
    first, second = details(result).cells
    assert first.execution_count is not None
    assert second.execution_count == first.execution_count + 1
    assert first.duration_ms is not None
    assert first.duration_ms > 0


async def test_a_result_is_plain_json(runtime: Runtime) -> None:
    plain = (await call(runtime, "1 + 1")).to_dict()
    assert plain["content"] == [{"type": "text", "text": "2"}]
    assert plain["is_error"] is False
    assert plain["details"]["kernel"]["backend"] == "native"
    assert plain["details"]["outcome"] == "ok"


async def test_the_kernel_is_named(runtime: Runtime) -> None:
    kernel = details(await call(runtime, "1")).kernel
    assert kernel is not None
    assert (kernel.backend, kernel.generation, kernel.phase, kernel.state) == ("native", 1, "ready", "kept")
    assert kernel.restore is None
    assert kernel.interpreter == (await call(runtime, "import sys\nprint(sys.executable)")).text


async def test_a_failed_cell_has_its_exception_as_data(runtime: Runtime) -> None:
    ok = await call(runtime, "x = 1")
    failed = await call(runtime, ["x = 1", "def f():\n    raise KeyError('nothing')\nf()"])
    assert details(ok).error is None
    error = details(failed).error
    assert error is not None
    assert (error.cell, error.ename, error.evalue) == (1, "KeyError", "'nothing'")
    assert error.traceback[-1] == "KeyError: 'nothing'"
    assert any("raise KeyError" in line for line in error.traceback)
    assert "\n".join(error.traceback) in failed.text
    assert failed.to_dict()["details"]["error"]["ename"] == "KeyError"


async def test_of_several_failed_cells_the_first_is_told(runtime: Runtime) -> None:
    error = details(await call(runtime, ["1 / 0", "x = 1", "nowhere"], keep_going=True)).error
    assert error is not None
    assert (error.cell, error.ename) == (0, "ZeroDivisionError")


async def test_a_large_exception_is_bounded_like_other_output(runtime: Runtime) -> None:
    result = await call(runtime, "raise ValueError('\\x1b[31mbig ' + 'x' * 200_000 + '\\n' * 20_000 + 'end')")
    error = details(result).error
    assert error is not None
    most = runtime.settings.output.max_bytes + 200
    assert error.evalue.startswith("big xxx")
    assert error.evalue.endswith("end")
    assert max(len(error.evalue), len("\n".join(error.traceback))) < most
    assert error.traceback[-1] == "end"
