"""`pisces modules`: what would be loaded, and whether it works."""

import json
from pathlib import Path

from tests.fakes.modules import project_modules, write_modules
from tests.frontends.command import Command

TAGGED = '''
from pisces_prelude import helper
open("was-run", "w").close()
@helper("Data")
def load(name: str) -> int:
    """Load a table."""
@helper("Data")
def save(name): ...
'''


def user_modules(home: Path) -> Path:
    return home / ".pisces" / "agent" / "modules"


def test_list_says_where_modules_are_looked_for_when_there_are_none(
    pisces: Command, own_home: Path, tmp_path: Path
) -> None:
    done = pisces("modules", "list", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(user_modules(own_home)) in done.stdout
    assert str(project_modules(tmp_path)) in done.stdout
    assert pisces("modules", "list", "--json", cwd=tmp_path).stdout == "[]\n"


def test_list_has_each_module_with_its_place_and_helpers_and_runs_nothing(
    pisces: Command, own_home: Path, tmp_path: Path
) -> None:
    user = write_modules(user_modules(own_home), {"a.py": TAGGED, "b.py": "x = 1\n"})
    project = write_modules(project_modules(tmp_path), {"b.py": "raise ValueError\n"})
    (project / "c.py").write_bytes(b"\xff")
    (project / "d.py").write_text("from pisces_prelude import helper\n@helper('\\x1b[2J')\ndef f(): ...\n", "utf-8")
    done = pisces("modules", "list", "--cwd", str(tmp_path))
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert lines[0] == [str(user / "a.py"), "user", "Data: load save"]
    assert lines[1] == [str(user / "b.py"), "user", "not loaded: the project has one of the same name"]
    assert lines[2] == [str(project / "b.py"), "project"]
    assert lines[3][:2] == [str(project / "c.py"), "project"]
    assert lines[3][2].startswith("cannot be loaded: UnicodeDecodeError")
    assert lines[4] == [str(project / "d.py"), "project", ": f"]
    assert "run in every kernel that starts in this folder, also what the project brings along" in done.stdout
    assert "\x1b" not in done.stdout
    assert not (tmp_path / "was-run").exists()
    listed = json.loads(pisces("modules", "list", "--json", cwd=tmp_path).stdout)
    assert [(row["origin"], row["overridden"]) for row in listed[:3]] == [
        ("user", False),
        ("user", True),
        ("project", False),
    ]
    assert listed[0]["helpers"][0] == {
        "name": "load",
        "category": "Data",
        "signature": "(name: str) -> int",
        "doc": "Load a table.",
    }


def test_check_says_what_works_and_where_the_others_fail(pisces: Command, own_home: Path, tmp_path: Path) -> None:
    user = write_modules(user_modules(own_home), {"a.py": "print('hello')\n"})
    project = write_modules(project_modules(tmp_path), {"b.py": "\n1 / 0\n", "c.py": "import os\nos._exit(4)\n"})
    done = pisces("modules", "check", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"ok      {user / 'a.py'}",
        "        It printed: hello",
        f"FAILED  {project / 'b.py'}: ZeroDivisionError: division by zero (line 2)",
        f"FAILED  {project / 'c.py'}: the kernel exited with code 4 under it",
    ]
    found = json.loads(pisces("modules", "check", "--json", cwd=tmp_path).stdout)
    assert [(one["ok"], one["line"]) for one in found] == [(True, None), (False, 2), (False, None)]


def test_check_succeeds_when_all_do_also_where_failures_would_be_fatal(
    pisces: Command, plain_python: str, tmp_path: Path
) -> None:
    folder = write_modules(project_modules(tmp_path), {"a.py": "import sys\nprint(sys.prefix)\n"})
    strict = {"PI_SET__python__modules__strict": "true", "PI_SET__python__interpreter": "/no/such/python"}
    done = pisces("modules", "check", "--cwd", str(tmp_path), "--interpreter", plain_python, variables=strict)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"ok      {folder / 'a.py'}\n        It printed: {Path(plain_python).parents[1]}\n"
    (folder / "a.py").write_text("1 / 0\n", encoding="utf-8")
    done = pisces("modules", "check", "--cwd", str(tmp_path), "--interpreter", plain_python, variables=strict)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout


def test_check_gives_each_the_time_that_is_set(pisces: Command, tmp_path: Path) -> None:
    folder = write_modules(project_modules(tmp_path), {"loop.py": "while True: pass\n"})
    (tmp_path / ".pisces" / "settings.toml").write_text("[python.modules]\ntimeout = 1\n", encoding="utf-8")
    done = pisces("modules", "check", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"FAILED  {folder / 'loop.py'}: TimeoutError: it had not ended after 1 seconds")


def test_check_without_modules_starts_nothing(pisces: Command, tmp_path: Path) -> None:
    done = pisces("modules", "check", "--interpreter", "/no/such/python", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("There are no extension modules here.")


def test_a_kernel_that_cannot_start_is_one_clear_error(pisces: Command, tmp_path: Path) -> None:
    write_modules(project_modules(tmp_path), {"a.py": "x = 1\n"})
    done = pisces("modules", "check", "--interpreter", "/no/such/python", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "/no/such/python" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_is_refused(pisces: Command, tmp_path: Path) -> None:
    for command in ("list", "check"):
        done = pisces("modules", command, "--cwd", str(tmp_path / "missing"))
        assert done.returncode == 2
        assert str(tmp_path / "missing") in done.stderr


def test_run_tells_of_a_module_that_failed_and_runs_the_code(pisces: Command, tmp_path: Path) -> None:
    folder = write_modules(project_modules(tmp_path), {"a.py": "1 / 0\n", "b.py": "b = 2\n"})
    done = pisces("run", "-c", "b", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert f"Extension module {folder / 'a.py'} was not loaded: ZeroDivisionError" in done.stderr
