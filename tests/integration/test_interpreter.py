"""Which Python is found, with real interpreters and with files that only look like one."""

import os
import stat
import sys
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from pisces.environment import Interpreter, ProbeCache, Search, kernel_environment, resolve_interpreter
from pisces.environment import interpreter as interpreter_module
from pisces.environment.lookup import InterpreterLookup
from pisces.environment.probe import ProbeFailed, probe
from pisces.errors import DeadlineExceeded, InterpreterError
from pisces.kernels.deadline import Deadline
from pisces.settings import Paths, PythonSettings, Settings
from pisces.settings.load import load_settings
from tests.fakes.drive import PATIENCE

MakeSearch = Callable[..., Search]


def make_script(file: Path, body: str, shebang: str = "#!/bin/sh") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{shebang}\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def make_venv(folder: Path) -> Path:
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


@pytest.fixture
def make_search(tmp_path: Path, cwd: Path) -> MakeSearch:
    cache = ProbeCache(tmp_path / "cache")

    def make(*, named: str = "", path: str = "", environ: dict[str, str] | None = None, **options: object) -> Search:
        known = {name: os.environ[name] for name in ("HOME", "PI_TEST_COOKIE") if name in os.environ}
        whole = {**known, "PATH": path or f"{tmp_path}/on-path:/usr/bin:/bin", **(environ or {})}
        settings = Settings(python=PythonSettings(interpreter=named))
        paths = Paths(tmp_path / "pisces")
        return Search(cwd=cwd, environ=whole, settings=settings, paths=paths, **{"cache": cache, **options})  # type: ignore[arg-type]

    return make


async def resolve(search: Search, seconds: float = 20) -> Interpreter:
    return await resolve_interpreter(search, Deadline.after(seconds))


async def test_a_real_venv_is_described_as_it_is(cwd: Path, make_search: MakeSearch) -> None:
    python = make_venv(cwd / ".venv")
    found = await resolve(make_search())
    assert (found.path, found.source, found.venv) == (str(python), ".venv", str(cwd / ".venv"))
    assert found.version == sys.version_info[:3]
    assert (found.implementation, found.platform) == (sys.implementation.name, sys.platform)
    assert found.base_prefix == sys.base_prefix
    assert found.has_ipython is False


async def test_a_kernel_of_a_venv_runs_in_it_and_finds_its_commands(cwd: Path, make_search: MakeSearch) -> None:
    search = make_search()
    make_venv(cwd / ".venv")
    found = await resolve(search)
    env = kernel_environment(found, search.environ, search.settings)
    command = ["sh", "-c", 'python -c "import sys; print(sys.prefix)"; echo $VIRTUAL_ENV']
    said = await anyio.run_process(command, env=env)
    assert said.stdout.decode("utf-8").split() == [str(cwd / ".venv")] * 2


async def test_ipython_is_found_without_being_imported(ipython_python: str, make_search: MakeSearch) -> None:
    assert (await resolve(make_search(named=ipython_python))).has_ipython is True


async def test_a_broken_venv_does_not_shadow_a_working_interpreter(cwd: Path, make_search: MakeSearch) -> None:
    (cwd / ".venv" / "bin").mkdir(parents=True)
    (cwd / ".venv" / "bin" / "python").symlink_to("/no/such/python3.8")
    working = make_venv(cwd / "venv")
    assert (await resolve(make_search(environ={"VIRTUAL_ENV": str(cwd / "gone")}))).path == str(working)


async def test_a_venv_whose_base_is_gone_does_not_shadow_a_working_interpreter(
    tmp_path: Path, cwd: Path, make_search: MakeSearch
) -> None:
    # What is left of a venv when its Python was uninstalled: a binary that cannot find its standard library.
    make_script(cwd / ".venv" / "bin" / "python", "echo \"No module named 'encodings'\" >&2; exit 1")
    working = make_venv(cwd / "venv")
    assert (await resolve(make_search())).path == str(working)


async def test_a_named_interpreter_that_fails_is_an_error_although_others_work(
    cwd: Path, make_search: MakeSearch
) -> None:
    make_venv(cwd / ".venv")
    (cwd / "link").symlink_to("/no/such/python")
    with pytest.raises(InterpreterError, match="is a broken link to /no/such/python") as caught:
        await resolve(make_search(named=str(cwd / "link")))
    assert "python.interpreter" in str(caught.value)
    assert caught.value.hint


async def test_a_named_command_is_looked_up_on_path(tmp_path: Path, make_search: MakeSearch) -> None:
    (tmp_path / "on-path").mkdir()
    (tmp_path / "on-path" / "mypython").symlink_to(sys.executable)
    found = await resolve(make_search(named="mypython"))
    assert found.path == str(tmp_path / "on-path" / "mypython")


async def test_the_interpreter_behind_a_shim_is_what_is_run(tmp_path: Path, make_search: MakeSearch) -> None:
    python = make_venv(tmp_path / "versions")
    make_script(tmp_path / "on-path" / "python", f'exec "{python}" "$@"')
    found = await resolve(make_search())
    assert (found.path, found.source) == (str(python), "PATH")


async def test_a_shim_sees_the_folder_and_the_variable_it_chooses_by(
    tmp_path: Path, cwd: Path, make_search: MakeSearch
) -> None:
    chosen = make_venv(tmp_path / "chosen")
    make_script(
        tmp_path / "on-path" / "python",
        f'[ "$PWD" = "{cwd}" ] && [ "$PYENV_VERSION" = 3.x ] && exec "{chosen}" "$@"; echo "not chosen"; exit 127',
    )
    assert (await resolve(make_search(environ={"PYENV_VERSION": "3.x"}))).path == str(chosen)


async def test_the_probe_sees_no_secret(tmp_path: Path, make_search: MakeSearch) -> None:
    make_script(tmp_path / "on-path" / "python", f'env > "{tmp_path}/seen"; exec "{sys.executable}" "$@"')
    await resolve(make_search(environ={"OPENAI_API_KEY": "k3y", "DB_PASSWORD": "hunter2"}))
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert "PATH=" in seen
    assert "k3y" not in seen
    assert "hunter2" not in seen


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("cat", "ended with exit code 0 without an answer"),
        ("exec sleep 1000", "did not answer within 0.3 s"),
        ("trap '' TERM INT HUP; while :; do sleep 1000; done", "did not answer within 0.3 s"),
        ("yes garbage", "wrote more than 64 KiB and no answer"),
        ("echo 'no such option'; exit 3", "ended with exit code 3 without an answer: no such option"),
        ("kill -9 $$", "ended without an answer"),
        ("sleep 1000 & sleep 1000 & echo started; wait", "did not answer within 0.3 s"),
        ("exec 1>&- 2>&-; exec sleep 1000", "ended without an answer"),
        ('printf "%s{}\\n" "$3"', "gave an answer that cannot be understood"),
        ('printf "%s[1\\n" "$3"', "gave an answer that cannot be understood"),
    ],
)
async def test_what_is_no_interpreter_is_told_apart_in_time(
    tmp_path: Path, body: str, reason: str, no_descriptor_is_left: None
) -> None:
    fake = make_script(tmp_path / "python", body)
    patience = 0.3 if "0.3 s" in reason else PATIENCE
    with anyio.fail_after(PATIENCE), pytest.raises(ProbeFailed, match=reason):
        await probe(str(fake), cwd=str(tmp_path), env=dict(os.environ), seconds=patience)


@pytest.fixture
def silent_input() -> Iterator[None]:
    """Our own standard input is something that never says anything, like a terminal that nobody types at."""
    reader, writer = os.pipe()
    before = os.dup(0)
    os.dup2(reader, 0)
    yield
    os.dup2(before, 0)
    for descriptor in (reader, writer, before):
        os.close(descriptor)


async def test_an_interpreter_that_reads_its_input_is_not_waited_for(tmp_path: Path, silent_input: None) -> None:
    # Our input is not the probe's: a reader gets the end of the file at once, and goes on.
    fake = make_script(tmp_path / "python", f'read line; exec "{sys.executable}" "$@"')
    answer = await probe(str(fake), cwd=str(tmp_path), env=dict(os.environ), seconds=10)
    assert answer.version == sys.version_info[:3]


async def test_noise_around_the_answer_does_no_harm(tmp_path: Path) -> None:
    noisy = make_script(tmp_path / "python", f'echo "Welcome!"; echo warn >&2; "{sys.executable}" "$@"; echo bye')
    answer = await probe(str(noisy), cwd=str(tmp_path), env=dict(os.environ), seconds=20)
    assert answer.executable == sys.executable


@pytest.mark.parametrize("module", ["json", "importlib", "IPython"])
async def test_a_module_in_the_current_folder_is_not_run_by_the_probe(tmp_path: Path, module: str) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w', encoding='utf-8').close()"
    (tmp_path / f"{module}.py").write_text(trap, encoding="utf-8")
    await probe(sys.executable, cwd=str(tmp_path), env=dict(os.environ), seconds=20)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [b"", b"\x7fELFbroken", b"#!/no/such/shell\n"])
async def test_a_file_that_cannot_be_started_says_why(
    tmp_path: Path, content: bytes, no_descriptor_is_left: None
) -> None:
    file = tmp_path / "python"
    file.write_bytes(content)
    file.chmod(0o755)
    with pytest.raises(ProbeFailed, match="cannot be started"):
        await probe(str(file), cwd=str(tmp_path), env={}, seconds=5)


async def test_an_old_python_is_refused_with_its_version(tmp_path: Path) -> None:
    old = 'import sys; sys.version_info = (3, 8, 18, "final", 0); exec(sys.argv.pop(1), {})'
    fake = make_script(tmp_path / "python", f'exec "{sys.executable}" -c \'{old}\' "$2" "$3"')
    with pytest.raises(ProbeFailed, match=r"is Python 3\.8\.18, and 3\.9 or newer is needed"):
        await probe(str(fake), cwd=str(tmp_path), env={}, seconds=20)


async def test_when_nothing_works_every_place_is_named_with_its_reason(
    tmp_path: Path, cwd: Path, make_search: MakeSearch
) -> None:
    make_script(cwd / ".venv" / "bin" / "python", "exit 3")
    make_script(tmp_path / "on-path" / "python", "echo pyenv: no version set; exit 127")
    with pytest.raises(InterpreterError) as caught:
        await resolve(make_search(path=str(tmp_path / "on-path"), environ={"VIRTUAL_ENV": "/no/such/venv"}))
    assert str(caught.value) == (
        "No working Python interpreter found. Tried: "
        "/no/such/venv (VIRTUAL_ENV): no such folder; "
        f"{cwd}/.venv/bin/python (.venv): ended with exit code 3 without an answer; "
        f"{tmp_path}/on-path/python (PATH): ended with exit code 127 without an answer: pyenv: no version set; "
        "python3 (PATH): not found on PATH"
    )
    assert "pisces setup python" in caught.value.hint


async def test_success_is_remembered_and_failure_is_not(tmp_path: Path, make_search: MakeSearch) -> None:
    count = tmp_path / "count"
    fake = make_script(tmp_path / "on-path" / "python", f'echo x >> "{count}"; [ -e "{tmp_path}/ok" ] || exit 1')
    with fake.open("a", encoding="utf-8") as file:
        file.write(f'exec "{sys.executable}" "$@"\n')
    search = make_search(path=str(tmp_path / "on-path"))
    for _ in range(2):
        with pytest.raises(InterpreterError):
            await resolve(search)
    (tmp_path / "ok").touch()
    first = await resolve(search)
    again = await resolve(search)
    later_process = await resolve(make_search(path=str(tmp_path / "on-path"), cache=ProbeCache(tmp_path / "cache")))
    assert first.path == again.path == later_process.path
    assert count.read_text(encoding="utf-8").count("x") == 3
    await resolve(make_search(path=str(tmp_path / "on-path"), fresh=True))
    assert count.read_text(encoding="utf-8").count("x") == 4


async def test_what_did_not_work_is_asked_again_whatever_the_cache_says(tmp_path: Path, cwd: Path) -> None:
    count = tmp_path / "count"
    make_script(tmp_path / "on-path" / "python", f'echo x >> "{count}"; exec "{sys.executable}" "$@"')
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}/on-path:/usr/bin:/bin"}
    lookup = InterpreterLookup(cwd, environ, load_settings(cwd, environ), Paths.locate(environ))
    first = await lookup.find(None, Deadline.after(20))
    assert await lookup.find(None, Deadline.after(20)) == first
    assert count.read_text(encoding="utf-8").count("x") == 1
    lookup.forget(None)
    assert await lookup.find(None, Deadline.after(20)) == first
    assert count.read_text(encoding="utf-8").count("x") == 2


async def test_kernels_are_told_where_artifacts_are_whatever_the_environment_says(tmp_path: Path, cwd: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PI_ARTIFACTS_DIR": "/outer", "ARTIFACTS": "/outer"}
    paths = Paths.locate(environ)
    lookup = InterpreterLookup(cwd, environ, load_settings(cwd, environ), paths)
    env = {**lookup.environment(Interpreter(sys.executable, "PATH", "/usr", "/usr")), **lookup.injected}
    assert env["PI_ARTIFACTS_DIR"] == env["ARTIFACTS"] == str(paths.artifacts)


async def test_the_deadline_of_the_call_ends_the_search(tmp_path: Path, make_search: MakeSearch) -> None:
    make_script(tmp_path / "on-path" / "python", "exec sleep 1000")
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded, match="while looking for a Python interpreter"):
        await resolve(make_search(), seconds=0.3)
    assert time.monotonic() - started < 4


async def test_a_candidate_that_hangs_costs_its_own_time_and_not_the_search(
    tmp_path: Path, cwd: Path, make_search: MakeSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter_module, "PROBE_SECONDS", 5.0)
    make_script(cwd / ".venv" / "bin" / "python", "exec sleep 1000")
    working = make_venv(cwd / "venv")
    assert (await resolve(make_search())).path == str(working)


async def test_a_search_that_is_cancelled_leaves_no_process(
    tmp_path: Path, make_search: MakeSearch, no_descriptor_is_left: None
) -> None:
    make_script(tmp_path / "on-path" / "python", f'echo > "{tmp_path}/up"; sleep 1000 & exec sleep 1000')
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(resolve, make_search())
            while not (tmp_path / "up").exists():  # noqa: ASYNC110 - another process makes it
                await anyio.sleep(0.005)
            group.cancel_scope.cancel()


async def test_without_the_check_the_first_that_is_there_is_taken_unasked(
    tmp_path: Path, cwd: Path, make_search: MakeSearch
) -> None:
    python = make_script(cwd / ".venv" / "bin" / "python", f'touch "{tmp_path}/ran"')
    (cwd / ".venv" / "pyvenv.cfg").touch()
    found = await resolve(make_search(skip_check=True))
    assert (found.path, found.venv, found.version) == (str(python), str(cwd / ".venv"), None)
    assert not (tmp_path / "ran").exists()


async def test_a_path_that_is_not_utf8_works(tmp_path: Path, make_search: MakeSearch) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    make_venv(tmp_path / "plain")
    odd.symlink_to(tmp_path / "plain")
    python = odd / "bin" / "python"
    found = await resolve(make_search(named=str(python)))
    assert (found.path, found.venv) == (str(python), str(odd))


async def test_the_cache_on_disk_is_private(tmp_path: Path, cwd: Path, make_search: MakeSearch) -> None:
    make_venv(cwd / ".venv")
    await resolve(make_search())
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert len(list((tmp_path / "cache").glob("*.json"))) == 1
