"""The prelude is in the namespace of every Python kernel, belongs to the kernel, and gives way to the user."""

import pytest

from pisces.kernels.base import Inspecting, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.events import Display, Status, VariableChanges
from tests.fakes.drive import PATIENCE, Ran, ok, run

pytestmark = pytest.mark.needs_shell

# fmt: off
NAMES = [
    "env", "read", "write", "append", "rm", "mv", "cp", "find", "glob_files", "grep", "rgrep", "replace", "sed",
    "rsed", "run", "sh", "bash", "sort_lines", "uniq", "counter", "cols", "tree", "stat", "diff", "lines",
    "delete_lines", "delete_matching", "insert_at", "output", "display", "tool", "log", "phase", "parallel",
]
# fmt: on


async def failed(kernel: Kernel, code: str) -> Ran:
    ran = await run(kernel, code)
    assert ran.done.status == "error", ran.explained
    return ran


async def inspected(kernel: Kernel, code: str) -> VariableChanges:
    changes = (await ok(kernel, code, inspect=True)).done.variables
    assert changes is not None
    return changes


async def test_every_helper_is_there_with_its_words(kernel: Kernel) -> None:
    found = await ok(kernel, f"[name for name in {NAMES!r} if not globals()[name].__doc__]")
    assert found.result == "[]"


async def test_what_a_helper_did_is_told_in_one_event_and_prints_nothing(kernel: Kernel) -> None:
    ran = await ok(kernel, "_ = env('PISCES_NO_SUCH_VARIABLE')\nlog('half way')\nphase('Clean up')")
    assert ran.of(Status) == [
        Status("env", {"key": "PISCES_NO_SUCH_VARIABLE", "value": None, "action": "get"}),
        Status("log", {"text": "half way"}),
        Status("phase", {"text": "Clean up"}),
    ]
    assert ran.stdout + ran.stderr == ""


async def test_what_captures_a_cell_does_not_capture_what_helpers_tell(kernel: Kernel) -> None:
    ran = await ok(kernel, "%%capture captured\nlog('told')\nprint('said')\ndisplay([1])")
    assert ran.of(Status) == [Status("log", {"text": "told"})]
    assert (await ok(kernel, "captured.stdout, len(captured.outputs)")).result == "('said\\n', 1)"
    await ok(kernel, "%reset -f")


async def test_a_helper_that_fails_raises_at_the_line_of_the_user_and_tells_its_error(kernel: Kernel) -> None:
    ran = await failed(kernel, "x = 1\nenv(None, 'value')")
    assert ran.error.ename == "TypeError"
    assert "env(None, 'value')" in "\n".join(ran.error.traceback)
    assert "prelude" not in "\n".join(ran.error.traceback)
    (status,) = ran.of(Status)
    assert status.data["error"] == "TypeError: env() needs a key to set a value"


async def test_names_of_the_prelude_are_no_variables_until_they_are_bound_anew(kernel: Kernel) -> None:
    await inspected(kernel, "%reset -f")
    changes = await inspected(kernel, "find = 3\nstat = stat")
    assert [one.name for one in changes.added] == ["find"]
    assert isinstance(kernel, Inspecting)
    listed = {one.name for one in await kernel.variables(Deadline.after(PATIENCE))}
    assert listed.isdisjoint(set(NAMES) - {"find"})
    assert "find" in listed
    await ok(kernel, "%reset -f")


async def test_reset_gives_the_prelude_again_and_takes_the_rest(kernel: Kernel) -> None:
    await inspected(kernel, "%reset -f")
    await inspected(kernel, "x = 1\nread = 'mine'\ndel grep")
    assert (await inspected(kernel, "%reset -f")).removed == ("read", "x")
    assert (await failed(kernel, "x")).error.ename == "NameError"
    assert (await ok(kernel, "callable(read) and callable(grep)")).result == "True"


async def test_names_of_the_prelude_are_not_listed_by_who(kernel: Kernel) -> None:
    await ok(kernel, "%reset -f")
    assert "rgrep" not in (await ok(kernel, "mine = 1\n%who")).stdout
    await ok(kernel, "%reset -f")


@pytest.mark.parametrize("value", ["{'a': [1, 2]}", "[1, 2]", "(1, 2)"])
async def test_plain_data_is_displayed_as_json_with_its_text_beside_it(kernel: Kernel, value: str) -> None:
    (shown,) = (await ok(kernel, f"display({value})")).of(Display)
    assert shown.bundle["text/plain"] == value
    assert shown.bundle["application/json"] == ({"a": [1, 2]} if "a" in value else [1, 2])


async def test_a_helper_can_be_called_from_a_thread_and_in_a_forked_process(kernel: Kernel) -> None:
    code = (
        "import os, threading\n"
        "thread = threading.Thread(target=log, args=('from a thread',))\nthread.start()\nthread.join()\n"
        "pid = os.fork()\n"
        "if not pid:\n    log('from a child')\n    os._exit(0)\n"
        "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
    )
    ran = await ok(kernel, code)
    assert ran.result == "0"
    assert Status("log", {"text": "from a thread"}) in ran.of(Status)
