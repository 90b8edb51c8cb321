"""Extension modules in real kernels: what a cell finds of them, what is told, and what they cannot break."""

import json
from pathlib import Path
from typing import Any

import pytest

from pisces.guest.prelude import names
from pisces.model.events import Status
from tests.fakes.hosts import end_host, kill_host
from tests.fakes.modules import Start, note, project_modules, user_modules, write_modules
from tests.fakes.runtimes import call, details, runtime_on
from tests.fakes.servers import Server
from tests.frontends.command import Command
from tests.integration.native.keeping import NATIVE_THREAD

TAGGED = '''
from pisces_prelude import helper, tell

_rate = 3
cache = {}

@helper("Data")
def load(rows: int, *, scale: int = 2) -> int:
    """Load some rows."""
    tell(rows=rows)
    cache[rows] = rows * scale * _rate
    return cache[rows]

@helper("Data")
def fail():
    raise ValueError("no such table")
'''

ASK = "good, callable(read), 'half' in globals(), '__file__' in globals(), __doc__ == 'Words.'"

TOLD = "import os\nprint('told')\nlog('told')\ndisplay('told')\nos.write(1, b'told\\n')\nsh('echo told >&2')\n"


async def test_a_tagged_function_is_a_helper_in_every_way(start_in_shell: Start, tmp_path: Path) -> None:
    write_modules(project_modules(tmp_path), {"data.py": TAGGED})
    async with start_in_shell() as runtime:
        first = await call(runtime, "load(7)")
        assert "Data: load fail." in runtime.tools["python"].description
        failed = await call(runtime, "fail()")
        helped = await call(runtime, "help(load)")
        asked = await call(runtime, "load?")
    assert first.text == "42"
    assert details(first).status_events == [Status("load", {"rows": 7})]
    assert "ValueError: no such table" in failed.text
    assert "data.py" in failed.text
    assert "status.py" not in failed.text
    for shown in (helped.text, asked.text):
        assert "(rows: int, *, scale: int = 2) -> int" in shown
        assert "Load some rows." in shown
    assert str(project_modules(tmp_path) / "data.py") in asked.text


async def test_what_a_kernel_told_of_its_helpers_is_kept(start_in_shell: Start, tmp_path: Path) -> None:
    write_modules(project_modules(tmp_path), {"data.py": TAGGED})
    async with start_in_shell() as runtime:
        await call(runtime, "None")
    (file,) = (tmp_path / "home" / ".pisces" / "cache" / "helpers").iterdir()
    known = json.loads(file.read_text(encoding="utf-8"))
    told = {helper["name"]: helper for helper in known["helpers"]}
    assert known["complete"]
    assert told["load"] == {
        "name": "load",
        "category": "Data",
        "signature": "(rows: int, *, scale: int = 2) -> int",
        "doc": "Load some rows.",
    }
    real = names.helpers()
    assert {name: helper["category"] for name, helper in told.items() if name in real} == {
        name: real[name].category for name in real
    }


async def test_names_of_modules_are_no_variables_and_outlast_a_reset_of_the_namespace(
    start_in_shell: Start, tmp_path: Path
) -> None:
    write_modules(project_modules(tmp_path), {"data.py": TAGGED})
    async with start_in_shell() as runtime:
        first = await call(runtime, "x = load(1)")
        listed = await runtime.session("variables")
        reset = await call(runtime, ["%reset -f", "load(2)"])
        own = await call(runtime, "load = 5")
    changes = details(first).variables
    assert changes is not None
    assert [one.name for one in changes.added] == ["x"]
    assert "load" not in listed.text
    assert "cache" not in listed.text
    assert reset.text.endswith("12")
    changes = details(own).variables
    assert changes is not None
    assert [one.name for one in changes.added] == ["load"]


async def test_the_projects_module_wins_and_all_run_in_order_of_file_name(
    start_in_shell: Start, tmp_path: Path
) -> None:
    say = "order = [*globals().get('order', []), {!r}]\n"
    write_modules(user_modules(tmp_path), {"a.py": say.format("user a"), "c.py": say.format("user c")})
    write_modules(project_modules(tmp_path), {"c.py": say.format("project c"), "b.py": say.format("project b")})
    async with start_in_shell() as runtime:
        found = await call(runtime, "order")
    assert found.text == "['user a', 'project b', 'project c']"


async def test_a_module_that_binds_the_name_of_a_helper_replaces_it_in_this_kernel(
    start_in_shell: Start, tmp_path: Path
) -> None:
    write_modules(project_modules(tmp_path), {"mine.py": "def read(path): return f'mine: {path}'\n"})
    async with start_in_shell() as runtime:
        found = await call(runtime, ["read('a')", "%reset -f", "read('b')"])
    assert [record.output for record in details(found).cells] == ["'mine: a'\n", "", "'mine: b'\n"]


async def test_a_module_that_fails_is_told_once_with_its_line_and_leaves_no_name(
    start_in_shell: Start, tmp_path: Path
) -> None:
    folder = write_modules(
        project_modules(tmp_path),
        {
            "a.py": "half = 1\nread = half\n\ndef inner():\n    raise LookupError('no\\nway')\n\ninner()\n",
            "b.py": "x = 1\ndef broken(:\n",
            "c.py": "import sys\nsys.exit(3)\n",
            "d.py": "answer = input('who? ')\n",
            "e.py": '"""Words."""\ngood: int = 42\n',
            "f.py": "import missing_module_of_mine\n",
        },
    )
    async with start_in_shell() as runtime:
        first = await call(runtime, ASK)
        second = await call(runtime, "1")
        fresh = await call(runtime, "good", reset=True)
    value, told = first.text.split("\n\n")
    assert value == "(42, True, False, False, False)"
    lines = told.splitlines()
    assert lines[0] == note(folder / "a.py", "LookupError: no way (line 5)")
    assert lines[1].startswith(note(folder / "b.py", "SyntaxError: "))
    assert lines[1].endswith("(line 2)")
    assert lines[2] == note(folder / "c.py", "SystemExit: 3 (line 2)")
    assert "StdinNotSupported: Kernel requested stdin" in lines[3]
    assert lines[4] == note(folder / "f.py", "ModuleNotFoundError: No module named 'missing_module_of_mine' (line 1)")
    assert len(lines) == 5
    assert details(first).stdin_requested is False
    assert second.text == "1"
    assert fresh.text.split("\n\n")[1] == told


async def test_what_a_module_prints_is_told_in_short_and_is_not_in_the_output(
    start_in_shell: Start, tmp_path: Path
) -> None:
    source = "import sys\nprint('\\x1b[31mhello\\x1b[0m')\nsys.stdout.flush()\ndisplay('shown')\nprint('y' * 10_000)\n"
    folder = write_modules(project_modules(tmp_path), {"a.py": source})
    async with start_in_shell() as runtime:
        found = await call(runtime, "1")
    head, _, told = found.text.partition("\n\n")
    assert head == "1"
    assert told.startswith(f"Extension module {folder / 'a.py'} printed: hello\n")
    assert "shown" in told
    assert told.endswith("y…")
    assert len(told.partition("printed: ")[2]) == 501
    assert details(found).cells[0].output == "1\n"


async def test_strict_starts_no_kernel_and_says_which_module(start_in_shell: Start, tmp_path: Path) -> None:
    folder = write_modules(project_modules(tmp_path), {"a.py": "x = 1\n", "b.py": "\nraise KeyError('k')\n"})
    async with start_in_shell(modules={"strict": True}) as runtime:
        refused = await call(runtime, "x")
        assert refused.is_error
        assert refused.text.startswith(
            f"Error: Failed to load Python module {folder / 'b.py'}: KeyError: 'k'\nIt failed at line 2. Mend"
        )
        (folder / "b.py").write_text("y = 2\n", encoding="utf-8")
        assert (await call(runtime, "x, y")).text == "(1, 2)"


async def test_every_kernel_of_a_session_has_them_also_after_a_crash_and_in_one_call_mode(
    start_in_shell: Start, tmp_path: Path
) -> None:
    write_modules(project_modules(tmp_path), {"data.py": TAGGED})
    async with start_in_shell() as runtime:
        await call(runtime, "import os\nos._exit(3)")
        assert (await call(runtime, "load(1)")).text.endswith("6")
    async with start_in_shell(kernel_mode="per-call") as runtime:
        assert (await call(runtime, "load(1)")).text == "6"
        assert (await call(runtime, "load(2)")).text == "12"


async def test_modules_of_another_folder_are_not_loaded(plain_python: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_modules(project_modules(elsewhere), {"a.py": "x = 1\n"})
    async with runtime_on(plain_python, tmp_path) as runtime:
        found = await call(runtime, "'x' in globals()", cwd=str(elsewhere))
    assert found.text == "False"


async def test_a_kernel_of_another_language_loads_none(jupyter_python: str, tmp_path: Path) -> None:
    write_modules(project_modules(tmp_path), {"a.py": "raise ValueError\n"})
    async with runtime_on(jupyter_python, tmp_path) as runtime:
        found = await call(runtime, "echo hello", kernel="bash")
    assert found.text == "hello"


@pytest.mark.parametrize("python", ["plain_python", "ipython_python"])
async def test_modules_are_back_where_only_variables_could_be(
    python: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    # What a module bound and a cell changed is the user's: by value it comes along like their own.
    source = TAGGED + "\nclass Row:\n    def __init__(self, n): self.n = n\n"
    write_modules(project_modules(tmp_path), {"data.py": source, "told.py": TOLD})
    async with runtime_on(request.getfixturevalue(python), tmp_path, checkpoint="always") as runtime:
        await call(runtime, "load(7)\nrow = Row(3)\nalias = load\ndef more(): return alias(1) + row.n" + NATIVE_THREAD)
        crashed = await call(runtime, "import os\nos._exit(3)")
        found = await call(runtime, "more(), cache, type(row) is Row, alias is load, callable(fail)")
        listed = await runtime.session("variables")
    restore = details(crashed).kernel
    assert restore is not None
    assert restore.restore is not None
    assert restore.restore.how == "by_value"
    assert "load" not in " ".join(restore.restore.missing)
    assert found.text.splitlines()[0] == "(9, {7: 42, 1: 6}, True, True, True)"
    assert found.text.splitlines()[1:] == []
    assert details(found).status_events == [Status("load", {"rows": 1})]
    assert "more" in listed.text
    assert "fail" not in listed.text


def test_a_kernel_that_was_left_on_a_gateway_has_them_still_and_does_not_load_them_again(
    kernel_gateway: Server, plain_python: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PI_PYTHON_GATEWAY_URL", kernel_gateway.url)
    monkeypatch.setenv("PI_PYTHON_GATEWAY_TOKEN", kernel_gateway.token)
    folder = write_modules(project_modules(tmp_path), {"data.py": TAGGED + "print('told')\n"})
    pisces = Command(plain_python)
    try:
        first = pisces("run", "--session", "s", "-c", "load(7)", cwd=tmp_path)
        kill_host()
        later = pisces("run", "--session", "s", "-c", "cache", cwd=tmp_path)
    finally:
        pisces("session", "close", "s")
        end_host(pisces)
    assert first.stdout == "42\n"
    assert f"Extension module {folder / 'data.py'} printed: told" in first.stderr
    assert (later.stdout, later.stderr) == ("{7: 42}\n", "")


async def test_help_has_the_signature_and_the_words_of_every_helper(start_in_shell: Start) -> None:
    helpers = names.helpers()
    async with start_in_shell(max_timeout=60) as runtime:
        found = await call(runtime, [code for name in helpers for code in (f"help({name})", f"{name}?")], timeout=60)
    shown = [" ".join(record.output.split()) for record in details(found).cells]
    lacking = [
        (name, text)
        for name, texts in zip(helpers, zip(shown[::2], shown[1::2], strict=True), strict=True)
        for text in texts
        if _first_line(helpers[name]) not in text or (name != "tool" and f"{name}(" not in text)
    ]
    assert lacking == []


def _first_line(helper: Any) -> str:
    return " ".join((helper.__doc__ or "").strip().splitlines()[0].split())
