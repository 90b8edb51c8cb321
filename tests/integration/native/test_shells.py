"""Both shells do the same with the same cell: the semantics of IPython, with IPython and without."""

from pathlib import Path

import pytest

from pisces.kernels.native.kernel import NativeKernel
from pisces.model.events import Error
from tests.fakes.drive import ok, run, value
from tests.integration.native.conftest import StartKernel


@pytest.fixture
async def kernel(start: StartKernel, either_python: str) -> NativeKernel:
    return await start(either_python)


@pytest.mark.parametrize(
    ("cell", "result", "stdout"),
    [
        ("1+1", "2", ""),
        ("1+1;", None, ""),
        ("1+1; # with a comment", None, ""),
        ("'a;b'", "'a;b'", ""),
        ("x = 5", None, ""),
        ("x = 5\nx", "5", ""),
        ("if True:\n    7", None, ""),
        ("for i in range(2): i", None, ""),
        ("!echo hello", None, "hello\n"),
        ("name = 'Ada'\n!echo $name {name.upper()}", None, "Ada ADA\n"),
        ("lines = !printf 'a\\nb\\n'\nlist(lines)", "['a', 'b']", ""),
        ("%%bash\necho from bash\necho second", None, "from bash\nsecond\n"),
        ("%%sh\necho from sh", None, "from sh\n"),
        ("%%capture kept\nprint('hidden')", None, ""),
        ("text = '''\n%cd /\n!echo no\n'''\ntext", r"'\n%cd /\n!echo no\n'", ""),
        ("10 \\\n  % 3", "1", ""),
        ("values = [\n  7\n  % 4,\n]\nvalues", "[3]", ""),
        ("import asyncio\nawait asyncio.sleep(0, 'awaited')", "'awaited'", ""),
        ("%env SPECIAL=1\nimport os\nos.environ['SPECIAL']", "'1'", "env: SPECIAL=1\n"),
    ],
)
async def test_a_cell_shows_the_same_in_both_shells(
    kernel: NativeKernel, cell: str, result: str | None, stdout: str
) -> None:
    ran = await ok(kernel, cell)
    assert (ran.result, ran.stdout) == (result, stdout)


async def test_the_last_results_are_remembered(kernel: NativeKernel) -> None:
    await ok(kernel, "6 * 7")
    assert await value(kernel, "_") == "42"
    assert await value(kernel, "Out[1], _1") == "(42, 42)"
    assert await value(kernel, "In[1]") == "'6 * 7'"


async def test_cd_lasts_and_takes_python_along(kernel: NativeKernel, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "neighbour.py").write_text("here = True\n", encoding="utf-8")
    await ok(kernel, "%cd below")
    assert (await ok(kernel, "!pwd")).stdout == f"{tmp_path / 'below'}\n"
    assert await value(kernel, "import neighbour\nneighbour.here") == "True"


async def test_an_unknown_magic_is_a_usage_error(kernel: NativeKernel) -> None:
    for cell in ("%nosuchmagic", "%%nosuchmagic\nbody"):
        ran = await run(kernel, cell)
        assert (ran.done.status, ran.error.ename) == ("error", "UsageError")
        assert "nosuchmagic" in ran.error.evalue
        assert ran.stderr == ""


async def test_help_shows_what_an_object_is(kernel: NativeKernel) -> None:
    await ok(kernel, "def greet(name):\n    '''Say hello to somebody.'''")
    ran = await ok(kernel, "greet?")
    shown = ran.stdout + "".join(str(text) for kind, text in ran.outline if kind == "display")
    assert "Say hello to somebody." in shown


async def test_reset_forgets_the_names_and_leaves_a_working_kernel(kernel: NativeKernel) -> None:
    await ok(kernel, "gone = 1")
    await ok(kernel, "%reset -f")
    assert (await run(kernel, "gone")).error.ename == "NameError"
    assert await value(kernel, "1 + 1") == "2"
    ran = await ok(kernel, "print('still')\n!echo child")
    assert ran.stdout == "still\nchild\n"
    after = await ok(kernel, "fresh = 2", inspect=True)
    assert after.done.variables is not None
    assert [variable.name for variable in after.done.variables.added] == ["fresh"]


async def test_a_script_that_fails_shows_its_traceback(kernel: NativeKernel, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("before = 1\nraise ValueError('in the script')\n", encoding="utf-8")
    ran = await run(kernel, "%run script.py")
    shown = ran.stderr + "\n".join(line for error in ran.of(Error) for line in error.traceback)
    assert "ValueError: in the script" in shown


async def test_the_exit_status_of_a_command_is_kept(kernel: NativeKernel) -> None:
    await ok(kernel, "!exit 3")
    assert await value(kernel, "_exit_code") == "3"
