"""`pisces run`: what it prints, where, and what it exits with."""

import json
from pathlib import Path

import pytest

from tests.frontends.command import Command

SCRIPT = """\
x = 40
# %% Add
x += 2
print("added", end="")
# %% [markdown]
# Words, not code.
# %% Show
x
"""


def test_cells_share_their_state_and_only_what_they_say_is_printed(pisces: Command) -> None:
    done = pisces("run", "-c", "import os; x = 41", "-c", "x + 1")
    assert (done.stdout, done.stderr, done.returncode) == ("42\n", "", 0)


def test_a_file_is_run_cell_by_cell_with_headings_for_titles(pisces: Command, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = pisces("run", str(script))
    assert done.stdout == "[2/3] Add\nadded\n[3/3] Show\n42\n"
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("arguments", [["run", "-"], ["run"]], ids=["dash", "nothing"])
def test_standard_input_is_run(pisces: Command, arguments: list[str]) -> None:
    assert pisces(*arguments, stdin="print('grüße')".encode()).stdout == "grüße\n"


def test_the_encoding_that_a_file_names_is_heeded(pisces: Command, tmp_path: Path) -> None:
    script = tmp_path / "latin.py"
    script.write_bytes("# coding: latin-1\nprint('größe')\n".encode("latin-1"))
    assert pisces("run", str(script)).stdout == "größe\n"


def test_output_that_ends_without_a_newline_stays_so(pisces: Command) -> None:
    assert pisces("run", "-c", "print('x', end='')").stdout == "x"


def test_a_failure_is_told_on_standard_error_and_later_cells_do_not_run(pisces: Command) -> None:
    done = pisces("run", "-c", "print('one')", "-c", "1/0", "-c", "print('three')")
    assert done.returncode == 1
    assert done.stdout.startswith("one\n")
    assert "ZeroDivisionError" in done.stdout
    assert "three" not in done.stdout
    assert "Cell 2 failed (exit code 1)." in done.stderr
    assert "Fix only cell 2." in done.stderr


def test_keep_going_runs_the_cells_after_a_failed_one(pisces: Command) -> None:
    done = pisces("run", "--keep-going", "-c", "1/0", "-c", "print('two')")
    assert done.returncode == 1
    assert done.stdout.endswith("\ntwo\n")


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("1", 0), ("raise ValueError", 1), ("raise SystemExit(7)", 1), ("import os; os.kill(os.getpid(), 9)", 1)],
    ids=["ok", "exception", "exit", "crash"],
)
def test_the_exit_code_says_how_it_went(pisces: Command, code: str, exit_code: int) -> None:
    assert pisces("run", "-c", code).returncode == exit_code


def test_a_timeout_ends_the_cell_and_exits_with_124(pisces: Command) -> None:
    done = pisces("run", "--timeout", "4", "-c", "print('begun', flush=True); import time; time.sleep(60)")
    assert done.returncode == 124
    assert done.stdout.startswith("begun\n")
    assert "Command timed out after 4 seconds" in done.stderr


def test_every_character_of_a_long_output_is_printed_once(pisces: Command) -> None:
    done = pisces("run", "-c", "for n in range(50_000): print('line', n)")
    assert done.stdout == "".join(f"line {n}\n" for n in range(50_000))
    assert done.stderr == ""


def test_no_stream_prints_the_bounded_result_and_how_to_read_the_rest(pisces: Command) -> None:
    done = pisces("run", "--no-stream", "-c", "for n in range(50_000): print('line', n)")
    assert done.stdout.startswith("line 0\n")
    assert len(done.stdout) < 60_000
    notice = done.stdout.splitlines()[-1]
    assert notice.endswith("Run `pisces artifact 1` for full output]")
    assert pisces("artifact", "1").stdout == "".join(f"line {n}\n" for n in range(50_000))


def test_json_is_one_object_and_nothing_else(pisces: Command) -> None:
    done = pisces("run", "--json", "-c", "print('a')", "-c", "1/0")
    result = json.loads(done.stdout)
    assert set(result) == {"content", "details", "is_error"}
    assert result["is_error"]
    assert result["details"]["outcome"] == "error"
    assert [cell["status"] for cell in result["details"]["cells"]] == ["complete", "error"]
    assert (done.stderr, done.returncode) == ("", 1)


def test_pictures_and_data_are_named(pisces: Command) -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    code = f"display({{'image/png': {png!r}, 'application/json': {{'n': 7}}}}, raw=True)"
    done = pisces("run", "-c", code)
    assert "[image/png 1x1]" in done.stderr.splitlines()
    assert "display[1]:" in done.stderr
    assert '"n": 7' in done.stderr
    assert "[image/png 1x1]" in pisces("run", "--no-stream", "-c", code).stdout.splitlines()


def test_the_folder_is_the_one_that_was_given(pisces: Command, tmp_path: Path) -> None:
    done = pisces("run", "--cwd", str(tmp_path), "-c", "import os; print(os.getcwd())")
    assert done.stdout == f"{tmp_path.resolve()}\n"


def test_an_interpreter_is_looked_for_from_here_and_not_from_the_other_folder(
    pisces: Command, plain_python: str, tmp_path: Path
) -> None:
    environment = Path(plain_python).parents[1]
    relative = f"./{environment.name}/bin/python"
    done = pisces(
        "run", "--interpreter", relative, "--cwd", str(tmp_path), "-c", "import sys; sys.prefix", cwd=environment.parent
    )
    assert done.stdout == f"{str(environment)!r}\n", done.stderr


def test_an_interpreter_that_does_not_work_is_named_with_the_remedy(pisces: Command) -> None:
    done = pisces("run", "--interpreter", "/no/such/python", "-c", "1")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "/no/such/python" in done.stderr
    assert "Correct `python.interpreter`" in done.stderr
    assert "Traceback" not in done.stderr
