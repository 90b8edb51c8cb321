"""What commands see of the user's shell: functions, aliases, options and PATH of the rc file, and no secrets."""

import os
import stat
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from pisces.environment.shell_snapshot import SNAPSHOT_VARIABLE, snapshot_path
from pisces.guest import shell_snapshot
from pisces.settings.paths import Paths
from tests.fakes.drive import PATIENCE
from tests.fakes.shells import environment_with_rc, write_rc

pytestmark = pytest.mark.processes


def run(text: str, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    command = shell_snapshot.shell_command(text, env)
    assert command.warning == ""
    fds = () if command.script < 0 else (command.script,)
    try:
        return subprocess.run(
            command.args,
            env=command.env,
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=False,
        )
    finally:
        for fd in fds:
            os.close(fd)


def said(text: str, env: Mapping[str, str]) -> str:
    done = run(text, env)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


def test_functions_and_aliases_of_the_rc_file_count_in_commands(tmp_path: Path) -> None:
    rc = "greet() { echo \"hello $1\"; }\nalias hi='greet you'\nalias two='echo 1\necho 2'\nmy-name() { echo mine; }"
    env = environment_with_rc(tmp_path, rc)
    assert said("hi; two; my-name", env) == "hello you\n1\n2\nmine\n"


def test_options_count_before_functions_are_read(tmp_path: Path) -> None:
    rc = 'shopt -s extglob nullglob\nset -o pipefail\nisab() { [[ $1 == @(a|b) ]] && echo "yes"; }'
    env = environment_with_rc(tmp_path, rc)
    assert said("isab a; echo /no-such-*; shopt -oq pipefail && echo pipefail", env) == "yes\n\npipefail\n"


@pytest.mark.parametrize("option", ["errexit", "nounset", "xtrace", "verbose"])
def test_options_that_would_break_commands_are_left_out(tmp_path: Path, option: str) -> None:
    env = environment_with_rc(tmp_path, f"f() {{ echo f; }}\nset -o {option}")
    assert said("false; echo $NO_SUCH_VARIABLE; f", env) == "\nf\n"


def test_no_variable_of_the_rc_file_but_path_is_kept(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "export MY_API_KEY=sk-very-secret\nPLAIN=very-plain\nf() { :; }")
    assert said("echo [$MY_API_KEY$PLAIN]", env) == "[]\n"
    assert "very-" not in Path(env[SNAPSHOT_VARIABLE]).read_text(encoding="utf-8")


def test_path_gets_what_the_rc_file_adds_on_both_sides(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "PATH=/first:$PATH:/last")
    assert said("echo $PATH", env) == f"/first:{env['PATH']}:/last\n"
    elsewhere = {**env, "PATH": "/other:/usr/bin:/bin"}
    shell = {"SHELL": shell_snapshot.find_bash(env)}
    assert said("echo $PATH", {**elsewhere, **shell}).startswith("/first:/other:/usr/bin:/bin:")


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_folder_of_the_virtual_environment_stays_first_and_is_not_kept(tmp_path: Path, variable: str) -> None:
    plain = environment_with_rc(tmp_path, "PATH=/first:$PATH")
    active = {**plain, variable: "/venv", "PATH": f"/venv/bin:{plain['PATH']}"}
    assert said("echo $PATH", active) == f"/venv/bin:/first:{plain['PATH']}\n"
    assert said("echo $PATH", plain) == f"/first:{plain['PATH']}\n"


@pytest.mark.parametrize("alias", ["rm='rm -i'", "cp='cp -iv'", "mv='mv --interactive'", "rm='rm -vI'"])
def test_an_alias_that_would_ask_is_left_out(tmp_path: Path, alias: str) -> None:
    env = environment_with_rc(tmp_path, f"alias {alias}\nalias ls='ls -i'\nalias cpx='cp -i'")
    assert sorted(said("alias", env).splitlines()) == ["alias cpx='cp -i'", "alias ls='ls -i'"]


def test_functions_of_the_completion_library_are_left_out(tmp_path: Path) -> None:
    library = tmp_path / "bash-completion"
    library.mkdir()
    (library / "bash_completion").write_text("_comp_words() { :; }\n", encoding="utf-8")
    env = environment_with_rc(tmp_path, f". {library}/bash_completion\n_mine() {{ :; }}")
    assert said("declare -F", env) == "declare -f _mine\n"


def test_scripts_that_a_command_starts_know_nothing_of_the_snapshot(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "f() { echo f; }")
    assert said("bash -c 'type -t f; echo [$BASH_ENV]'", env) == "[]\n"


def test_what_the_user_has_read_before_scripts_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("g() { echo g; }\n", encoding="utf-8")
    env = environment_with_rc(tmp_path, "alias hi='echo f'", BASH_ENV=str(tmp_path / "own"))
    assert said("hi; g", env) == "f\ng\n"


def test_an_error_names_the_line_of_the_command(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "f() { echo f; }")
    assert "line 2: syntax error" in run("f\nif then", env).stderr


def test_a_command_longer_than_an_argument_can_be_is_run_and_leaves_no_descriptor(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "alias hi='echo hello'")
    long = "# filler\n" * 30_000 + "hi; ls /proc/self/fd | wc -l\nnosuch"
    done = run(long, env)
    assert done.stdout == "hello\n4\n"
    assert "line 30002: nosuch" in done.stderr


def test_what_the_rc_file_prints_and_starts_does_not_stay(tmp_path: Path) -> None:
    started = tmp_path / "started"
    rc = f"echo noise; echo noise >&2\nsleep 300 &\necho $! > {started}\nsetsid -f sleep 301\nf() {{ echo f; }}"
    env = environment_with_rc(tmp_path, rc, PI_TEST_MARK=str(tmp_path))
    assert said("f", env) == "f\n"
    assert started.exists()
    # They have been killed; the system takes a moment to end them.
    _, left = psutil.wait_procs([p for p in psutil.process_iter() if marked(p, str(tmp_path))], timeout=PATIENCE)
    assert [p for p in left if marked(p, str(tmp_path))] == []


def marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get("PI_TEST_MARK") == mark and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


def test_the_file_is_the_user_s_alone_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "f() { :; }")
    said("f", env)
    file = Path(env[SNAPSHOT_VARIABLE])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_it_is_taken_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    env = environment_with_rc(tmp_path, f"echo x >> {count}\nf() {{ echo f; }}")
    assert [said("f", env) for _ in range(3)] == ["f\n"] * 3
    assert count.read_text(encoding="ascii") == "x\n"


def test_several_that_take_it_at_once_do_no_harm(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "f() { echo f; }")
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(run("f", env).stdout)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == ["f\n"] * 4


def test_an_rc_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    before = environment_with_rc(tmp_path, "f() { echo 1; }")
    assert said("f", before) == "1\n"
    after = environment_with_rc(tmp_path, "f() { echo two; }")
    assert after[SNAPSHOT_VARIABLE] != before[SNAPSHOT_VARIABLE]
    assert said("f", after) == "two\n"


def test_a_snapshot_of_another_home_is_not_taken_under_this_name(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path / "home", "f() { echo f; }")
    write_rc(tmp_path / "other", "f() { echo other; }")
    assert run("f", {**env, "HOME": str(tmp_path / "other")}).returncode == 127
    assert said("f", env) == "f\n"


def test_without_an_rc_file_commands_run_as_they_are(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "f() { echo f; }")
    (tmp_path / ".bashrc").unlink()
    bare = {**env, SNAPSHOT_VARIABLE: str(snapshot_path(env, Paths.locate(env)))}
    assert said("echo plain; shopt -q login_shell || echo no login", bare) == "plain\nno login\n"
    assert not Path(bare[SNAPSHOT_VARIABLE]).exists()


def test_where_nobody_names_a_snapshot_a_login_shell_runs_the_command(tmp_path: Path) -> None:
    (tmp_path / ".bash_profile").write_text("PATH=/profile:/usr/bin:/bin\n", encoding="utf-8")
    env = {"HOME": str(tmp_path), "PATH": "/venv/bin:/usr/bin:/bin", "VIRTUAL_ENV": "/venv"}
    assert said("shopt -q login_shell && echo $PATH", env) == "/venv/bin:/profile:/usr/bin:/bin\n"


def test_where_there_is_no_bash_the_shell_of_the_system_runs_the_command(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, "f() { echo f; }", SHELL="/bin/zsh")
    command = shell_snapshot.shell_command("echo 1", {**env, "PATH": str(tmp_path)})
    assert command.args == ["/bin/sh", "-c", "--", "echo 1"]


ENVIRONMENTS = ["VIRTUAL_ENV", "CONDA_PREFIX", "pyvenv.cfg", "conda-meta"]
"""How an environment is known: by a variable that names it, or by what is in it."""


def environment_with_programs(folder: Path, known_by: str, programs: str, mark: Path) -> dict[str, str]:
    """An environment with these programs, each of which leaves a mark; the variables that name it."""
    (folder / "bin").mkdir(parents=True)
    for program in programs.split():
        file = folder / "bin" / program
        file.write_text(f"#!/bin/sh\necho {program} >> {mark}\n", encoding="utf-8")
        file.chmod(0o755)
    if known_by.isupper():
        return {known_by: f"{folder}/"}
    (folder / known_by).mkdir()
    return {}


@pytest.mark.parametrize("known_by", ENVIRONMENTS)
def test_the_bash_of_an_environment_is_passed_over(tmp_path: Path, known_by: str) -> None:
    named = environment_with_programs(tmp_path / "env", known_by, "bash", tmp_path / "mark")
    env = {"HOME": str(tmp_path), "SHELL": "/bin/zsh", "PATH": f"{tmp_path}/env/bin:/usr/bin:/bin", **named}
    assert shell_snapshot.find_bash(env) == shell_snapshot.find_bash({"PATH": "/usr/bin:/bin"}) != ""
    name = shell_snapshot.snapshot_name(shell_snapshot.find_bash(env), shell_snapshot.rc_file(env))
    assert snapshot_path(env, Paths(tmp_path)).name == name
    assert shell_snapshot.find_bash({**env, "SHELL": f"{tmp_path}/env/bin/bash"}) == f"{tmp_path}/env/bin/bash"


@pytest.mark.parametrize("place", ["{}:/usr/bin:/bin", "/first:{}:/usr/bin:/bin"])
@pytest.mark.parametrize("known_by", ENVIRONMENTS)
def test_the_rc_file_runs_no_program_of_the_environment_that_is_active(
    tmp_path: Path, known_by: str, place: str
) -> None:
    """One that is neither active nor first is the user's own."""
    mark = tmp_path / "mark"
    named = environment_with_programs(tmp_path / "env", known_by, "dircolors", mark)
    env = environment_with_rc(
        tmp_path, "dircolors\nf() { echo f; }", PATH=place.format(tmp_path / "env" / "bin"), **named
    )
    assert said("f", env) == "f\n"
    assert mark.exists() is (not named and place.startswith("/first"))


@pytest.mark.parametrize("shell", ["", "/bin/bash", "/bin/sh", "/no/such/bash"])
@pytest.mark.parametrize("path", ["/usr/local/bin:/usr/bin:/bin", "relative:/bin", ""])
def test_host_and_guest_agree_on_the_name(tmp_path: Path, shell: str, path: str) -> None:
    env = {"HOME": str(tmp_path), "SHELL": shell, "PATH": path}
    for _ in range(2):
        name = shell_snapshot.snapshot_name(shell_snapshot.find_bash(env), shell_snapshot.rc_file(env))
        assert snapshot_path(env, Paths(tmp_path)) == tmp_path / "cache" / "shell" / name
        write_rc(tmp_path, "true")
