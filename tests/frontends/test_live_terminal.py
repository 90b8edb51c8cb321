"""`pisces run` at a terminal: what a person sees while cells run, and what is left on the screen."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.frontends.command import Command

BRIEF = re.compile(r"\d+ ms|\d+\.\d s")
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SCRIPT = """\
# %% Count
print("one")
print("two", end="")
# %% Silent
x = 1
# %%
x + 41
"""
WAITING = "import os, time\nwhile not os.path.exists({!r}): time.sleep(0.02)\n"
"""A cell that goes on until there is a file."""


def times(lines: list[str]) -> list[str]:
    return [BRIEF.sub("TIME", line) for line in lines]


def test_cells_have_a_heading_and_an_end_and_nothing_else_is_left(pisces: Command, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with pisces.at_terminal("run", str(script)) as terminal:
        assert terminal.wait() == 0
    assert times(terminal.lines) == [
        "[1/3] Count", "one", "two", "✓ [1/3] Count · TIME",
        "✓ [2/3] Silent · TIME",
        "[3/3] x + 41", "42", "✓ [3/3] x + 41 · TIME",
    ]  # fmt: skip


def test_one_short_cell_stands_alone(pisces: Command) -> None:
    with pisces.at_terminal("run", "-c", "6 * 7") as terminal:
        assert terminal.wait() == 0
    assert terminal.lines[0] == "42"
    assert all(line.startswith("✓ 6 * 7 ·") for line in terminal.lines[1:])  # Where it took a second.


@pytest.mark.parametrize("where", [[], ["--session", "s"]], ids=["here", "session"])
def test_the_status_stands_below_output_and_goes_when_the_cell_ends(
    pisces: Command, tmp_path: Path, where: list[str]
) -> None:
    flag = tmp_path / "go"
    first = f"print('said', flush=True); print('half', end='', flush=True)\n{WAITING.format(str(flag))}print(' whole')"
    try:
        with pisces.at_terminal("run", *where, "-c", first, "-c", "2") as terminal:
            terminal.until(lambda: terminal.lines[-1:] and "1 pending" in terminal.lines[-1])
            terminal.until(lambda: "half" in terminal.lines)
            terminal.until(lambda: terminal.lines[-1][0] in SPINNER)
            assert terminal.lines[:3] == [
                "[1/2] print('said', flush=True); print('half', end='', flush=True)",
                "said",
                "half",
            ]
            assert len(terminal.lines) == 4
            flag.touch()
            assert terminal.wait() == 0
        shown = times(terminal.lines)
        assert shown[1:3] == ["said", "half whole"]
        assert shown[3].startswith("✓ [1/2] print('said'")
        announced = ["· This is a new session 's'."] if where else []
        assert shown[4:] == ["[2/2] 2", "2", "✓ [2/2] 2 · TIME", *announced]
    finally:
        pisces("host", "stop", "--force")


def test_a_progress_bar_moves_in_its_line(pisces: Command, tmp_path: Path) -> None:
    flag = tmp_path / "go"
    code = f"for n in range(3): print(f'\\r{{n * 50}} %', end='', flush=True)\n{WAITING.format(str(flag))}print()"
    with pisces.at_terminal("run", "-c", code) as terminal:
        terminal.until(lambda: terminal.lines[:1] == ["100 %"] and len(terminal.lines) == 2)
        flag.touch()
        assert terminal.wait() == 0
    assert terminal.lines[0] == "100 %"
    assert not any(sign in line for line in terminal.lines for sign in SPINNER)


def test_a_failure_is_signed_and_said_below_its_traceback(pisces: Command) -> None:
    with pisces.at_terminal("run", "-c", "1", "-c", "1/0", "-c", "3") as terminal:
        assert terminal.wait() == 1
    shown = times(terminal.lines)
    failed = shown.index("✗ [2/3] 1/0 · failed · TIME")
    assert shown[failed - 1] == "ZeroDivisionError: division by zero"
    assert shown[failed + 1].startswith("✗ Cell 2 failed (exit code 1).")
    assert not any(line.startswith("[3/3]") for line in shown)


@pytest.mark.parametrize("where", [[], ["--session", "s"]], ids=["here", "session"])
def test_a_state_that_came_back_is_announced_in_a_frame(pisces: Command, where: list[str]) -> None:
    try:
        with pisces.at_terminal("run", *where, "-c", "x = 1", "-c", "import os; os.kill(os.getpid(), 9)") as terminal:
            assert terminal.wait() == 1
        assert any("STATE RESTORED" in line for line in terminal.lines), terminal.lines
    finally:
        pisces("host", "stop", "--force")


def test_pictures_and_data_are_drawn(pisces: Command) -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    code = f"display({{'image/png': {png!r}, 'application/json': {{'n': 7}}}}, raw=True)"
    with pisces.at_terminal("run", "-c", code) as terminal:
        assert terminal.wait() == 0
    assert "▀" in terminal.text
    assert any(line.endswith("n: 7") for line in terminal.lines)
    with pisces.at_terminal("run", "-c", code, variables={"TERM": "xterm-kitty"}) as terminal:
        assert terminal.wait() == 0
    assert "\x1b_G" in terminal.text


def test_what_helpers_did_is_below_a_heading_of_one_row(pisces: Command) -> None:
    named = "x = 'a name that is longer than forty columns are wide'; phase('first'); log('second')"
    with pisces.at_terminal("run", "-c", named, "-c", "1", columns=40) as terminal:
        assert terminal.wait() == 0
    heading = terminal.lines.index("[1/2] x = 'a name that is longer than f…")
    assert terminal.lines[heading + 1 :][:2] == ["· phase first", "· log second"]
    with pisces.at_terminal("run", "-c", named, variables={"PYTHONIOENCODING": "ascii"}) as terminal:
        assert terminal.wait() == 0
    assert "- phase first" in terminal.lines


@pytest.mark.parametrize("where", [[], ["--session", "s"]], ids=["here", "session"])
def test_ctrl_c_stops_the_cell_and_a_second_one_leaves_no_status(pisces: Command, where: list[str]) -> None:
    try:
        with pisces.at_terminal("run", *where, "-c", "import time\nwhile True: time.sleep(60)") as terminal:
            terminal.until("import time ·")
            terminal.type("\x03")
            assert terminal.wait() == 130
        assert any("interrupted" in line for line in terminal.lines), terminal.lines
        deaf = "import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass"
        with pisces.at_terminal("run", *where, "-c", deaf) as terminal:
            terminal.until("import time ·")
            terminal.type("\x03")
            terminal.until("stopping")
            terminal.type("\x03")
            assert terminal.wait() == 130
            assert terminal.echoes
        assert not any(sign in line for line in terminal.lines for sign in SPINNER), terminal.lines
    finally:
        pisces("host", "stop", "--force")


def test_a_sigterm_leaves_no_status(pisces: Command) -> None:
    with pisces.at_terminal("run", "-c", "import time; time.sleep(60)") as terminal:
        terminal.until("time.sleep(60) ·")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait() == 143
    assert not any(sign in line for line in terminal.lines for sign in SPINNER)


@pytest.mark.parametrize("where", [[], ["--session", "s"]], ids=["here", "session"])
def test_a_terminal_that_goes_away_ends_the_run(pisces: Command, where: list[str]) -> None:
    try:
        with pisces.at_terminal("run", *where, "-c", "import time; time.sleep(60)") as terminal:
            terminal.until("time.sleep(60) ·")
            terminal.hang_up()
            assert terminal.wait() == 129
    finally:
        pisces("host", "stop", "--force")


def test_a_window_that_changes_its_size_is_followed(pisces: Command, tmp_path: Path) -> None:
    flag = tmp_path / "go"
    with pisces.at_terminal(
        "run", "-c", "# " + "long " * 30 + "\n" + WAITING.format(str(flag)), columns=100
    ) as terminal:
        terminal.until("…")
        terminal.resize(30, 10)
        seen = len(terminal.text)
        terminal.until(lambda: terminal.text.count("…", seen) >= 3)
        assert (
            max(len(part) for part in re.split(r"\r|\x1b\[J", re.sub(r"\x1b\[[0-9;]*m", "", terminal.text[seen:]))[-4:])
            < 30
        )
        flag.touch()
        assert terminal.wait() == 0


def test_twenty_columns_are_enough(pisces: Command, tmp_path: Path) -> None:
    flag = tmp_path / "go"
    first = f"print('世界' * 20, flush=True)\n{WAITING.format(str(flag))}"
    with pisces.at_terminal("run", "-c", first, "-c", "1/0", columns=20, rows=8) as terminal:
        terminal.until("[1/2")
        flag.touch()
        assert terminal.wait() == 1
    assert all(len(line) <= 20 for line in terminal.lines)
    assert "世界" * 20 in "".join(terminal.lines)
    assert not any(sign in line for line in terminal.lines for sign in SPINNER)


def test_no_colour_is_used_where_none_is_wanted(pisces: Command) -> None:
    with pisces.at_terminal("run", "-c", "1", "-c", "1/0", variables={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait() == 1
    assert re.search(r"\x1b\[[0-9;]*m", terminal.text)
    assert not re.search(r"\x1b\[[0-9;]*[349]\d[;m]", terminal.text)


def test_a_terminal_without_utf_8_gets_signs_that_it_has(pisces: Command) -> None:
    variables = {"PYTHONIOENCODING": "ascii"}
    with pisces.at_terminal("run", "-c", "print('grün')", "-c", "1/0", variables=variables) as terminal:
        assert terminal.wait() == 1
    assert terminal.written.isascii()
    assert times(terminal.lines)[2] == "+ [1/2] print('gr?n') - TIME"


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [(["--plain"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": ""})],
    ids=["asked for", "dumb", "unknown"],
)
def test_plain_is_text_alone(pisces: Command, arguments: list[str], variables: dict[str, str]) -> None:
    with pisces.at_terminal(
        "run", *arguments, "-c", "print('a', end='')", "-c", "1/0", variables=variables
    ) as terminal:
        assert terminal.wait() == 1
    assert "\x1b" not in terminal.text
    assert terminal.lines[0] == "a"
    assert "Cell 2 failed (exit code 1)." in terminal.text


def test_what_is_said_of_the_run_goes_to_standard_error_where_that_is_elsewhere(
    pisces: Command, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    leader, follower = os.openpty()
    with told.open("wb") as errors:
        process = pisces.start("run", "-c", "1/0", stdout=follower, stderr=errors)
        os.close(follower)
        assert process.wait(60) == 1
    os.close(leader)
    assert told.read_text("utf-8").startswith("Command exited with code 1") or "failed" in told.read_text("utf-8")
    assert "\x1b" not in told.read_text("utf-8")


def test_a_refusal_stands_alone(pisces: Command) -> None:
    with pisces.at_terminal("run", "--cwd", "/no/such/folder", "-c", "1") as terminal:
        assert terminal.wait() == 2
    assert terminal.lines[0].startswith("Error: ")


@pytest.mark.parametrize("where", [[], ["--session", "s"]], ids=["here", "session"])
def test_keys_that_are_pressed_meanwhile_push_nothing_up(pisces: Command, tmp_path: Path, where: list[str]) -> None:
    flag = tmp_path / "go"
    try:
        with pisces.at_terminal("run", *where, "-c", "# Wait\n" + WAITING.format(str(flag))) as terminal:
            terminal.until("# Wait ·")
            terminal.until(lambda: not terminal.echoes)
            terminal.type("typed\r\r")
            seen = len(terminal.text)
            terminal.until(lambda: terminal.text.count("# Wait", seen) >= 5)
            assert len(terminal.lines) == 1
            flag.touch()
            assert terminal.wait() == 0
            assert terminal.echoes
        assert "typed" not in terminal.text
    finally:
        pisces("host", "stop", "--force")


def test_a_pipe_loads_nothing_that_only_a_terminal_needs(pisces: Command) -> None:
    done = pisces("run", "-c", "1", variables={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pisces.cli.run_cells" in loaded
    assert not loaded & {"rich", "termios", "pisces.cli.live_screen", "pisces.cli.watched", "pisces.render"}


def test_a_change_to_a_notebook_is_shown_with_the_source(pisces: Command, tmp_path: Path) -> None:
    notebook = str(tmp_path / "a.ipynb")
    assert pisces("notebook", "insert", notebook, "--new", "-c", "x = 1").returncode == 0
    with pisces.at_terminal("notebook", "edit", notebook, "0", "-c", "first = 1\n" * 9 + "last = 2") as terminal:
        assert terminal.wait() == 0
    assert "Edited cell 0 (code)" in terminal.lines[0]
    assert "│ … 4 more lines" in terminal.lines
    assert terminal.lines[-2:] == ["│ last = 2", "╰── 1 cell"]
