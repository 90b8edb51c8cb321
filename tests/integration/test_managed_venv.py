"""The environment that Pisces makes for itself, with the real venv and the real pip."""

import os
import sys
import zipfile
from pathlib import Path

import anyio
import pytest

from pisces.environment.candidates import managed_candidate
from pisces.environment.managed_venv import create_managed_venv
from pisces.errors import DeadlineExceeded, InterpreterError
from pisces.settings import Paths


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "pisces")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which pip installs from a folder with one tiny package."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with zipfile.ZipFile(shelf / "tinyfish-1.0-py3-none-any.whl", "w") as wheel:
        about = "tinyfish-1.0.dist-info"
        wheel.writestr("tinyfish.py", "fins = 7\n")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tinyfish\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"tinyfish.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    wanted = {name: os.environ[name] for name in ("PATH", "HOME", "PI_TEST_COOKIE") if name in os.environ}
    return {**wanted, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf), "PIP_CONFIG_FILE": os.devnull}


def make_base(tmp_path: Path, body: str) -> str:
    """A Python to make environments from, or something in its place."""
    file = tmp_path / "base"
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def quick_base(tmp_path: Path) -> str:
    """A base that leaves pip out, which is what takes the time; it notes each time that it was used."""
    return make_base(tmp_path, f'echo made >> "{tmp_path}/made"; exec "{sys.executable}" "$@" --without-pip')


def break_python(paths: Paths) -> None:
    python = paths.managed_venv / "bin" / "python"
    python.unlink()
    python.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)


def times_made(tmp_path: Path) -> int:
    return (tmp_path / "made").read_text(encoding="utf-8").count("made")


def refuse_like_a_system_python(folder: Path) -> None:
    """Put commands in the folder that refuse what a system's own Python refuses (PEP 668)."""
    folder.mkdir()
    for name in ("python", "python3", "pip", "pip3"):
        (folder / name).write_text("#!/bin/sh\necho error: externally-managed-environment; exit 1\n", encoding="utf-8")
        (folder / name).chmod(0o755)


@pytest.mark.heavy
async def test_it_is_made_with_its_packages_and_then_only_completed(
    tmp_path: Path, paths: Paths, environ: dict[str, str]
) -> None:
    told: list[str] = []
    refuse_like_a_system_python(tmp_path / "system")
    environ["PATH"] = f"{tmp_path / 'system'}:{environ['PATH']}"
    # Settings of pip for other places than this environment must not lead it there.
    environ |= {"PIP_TARGET": str(tmp_path / "elsewhere"), "PIP_USER": "1", "PYTHONPATH": str(tmp_path / "elsewhere")}
    python = await create_managed_venv(paths, environ, packages=["tinyfish"], progress=told.append)
    said = await anyio.run_process([python, "-I", "-c", "import sys, tinyfish; print(sys.prefix, tinyfish.fins)"])
    assert said.stdout.decode("utf-8").split() == [str(paths.managed_venv), "7"]
    assert any("Making a virtual environment" in line for line in told)
    assert any("Successfully installed tinyfish" in line for line in told)
    assert managed_candidate(paths).problem == ""

    told.clear()
    assert await create_managed_venv(paths, environ, packages=["tinyfish"], progress=told.append) == python
    assert not any("Making" in line for line in told)
    assert any("already satisfied" in line for line in told)


async def test_a_half_made_one_is_made_again(tmp_path: Path, paths: Paths, environ: dict[str, str]) -> None:
    base = quick_base(tmp_path)
    await create_managed_venv(paths, environ, base=base, packages=())
    (paths.managed_venv / "leftover").touch()
    paths.managed_venv_unfinished.touch()
    await create_managed_venv(paths, environ, base=base, packages=())
    assert times_made(tmp_path) == 2
    assert not (paths.managed_venv / "leftover").exists()
    assert managed_candidate(paths).problem == ""


async def test_one_that_does_not_answer_is_made_again(tmp_path: Path, paths: Paths, environ: dict[str, str]) -> None:
    base = quick_base(tmp_path)
    await create_managed_venv(paths, environ, base=base, packages=())
    break_python(paths)
    told: list[str] = []
    await create_managed_venv(paths, environ, base=base, packages=(), progress=told.append)
    assert times_made(tmp_path) == 2
    assert any("exit code 1" in line for line in told)


async def test_a_broken_link_in_its_place_is_replaced(tmp_path: Path, paths: Paths, environ: dict[str, str]) -> None:
    paths.home.mkdir()
    paths.managed_venv.symlink_to("/no/such/folder")
    await create_managed_venv(paths, environ, base=quick_base(tmp_path), packages=())
    assert not paths.managed_venv.is_symlink()
    assert managed_candidate(paths).problem == ""


async def test_two_at_once_take_turns_and_make_it_once(tmp_path: Path, paths: Paths, environ: dict[str, str]) -> None:
    base = quick_base(tmp_path)
    told: list[str] = []

    async def make() -> None:
        await create_managed_venv(paths, environ, base=base, packages=(), progress=told.append)

    async with anyio.create_task_group() as group:
        group.start_soon(make)
        group.start_soon(make)
    assert times_made(tmp_path) == 1
    assert sum("Waiting for another set-up" in line for line in told) == 1


@pytest.mark.parametrize(
    "said", ["ensurepip is not available.", "/usr/bin/python3: No module named venv"], ids=["ensurepip", "venv"]
)
async def test_a_python_without_venv_is_answered_with_the_package_that_has_it(
    tmp_path: Path, paths: Paths, environ: dict[str, str], said: str
) -> None:
    base = make_base(tmp_path, f'echo "{said}" >&2; exit 1')
    with pytest.raises(InterpreterError, match="could not make a virtual environment") as caught:
        await create_managed_venv(paths, environ, base=base)
    assert said in str(caught.value)
    assert "python3-venv" in caught.value.hint


async def test_a_base_that_is_not_there_is_named(paths: Paths, environ: dict[str, str]) -> None:
    with pytest.raises(InterpreterError, match="/no/such/python cannot be started: No such file"):
        await create_managed_venv(paths, environ, base="/no/such/python")


async def test_what_pip_said_is_told_and_nothing_half_made_is_used(
    tmp_path: Path, paths: Paths, environ: dict[str, str]
) -> None:
    # Without pip in the environment, pip cannot be run: the shortest way for an installation to fail.
    with pytest.raises(InterpreterError, match="No module named pip") as caught:
        await create_managed_venv(paths, environ, base=quick_base(tmp_path), packages=["tinyfish"])
    assert "pip could not install tinyfish" in str(caught.value)
    assert "pisces setup python" in caught.value.hint
    assert "not finished" in managed_candidate(paths).problem


async def test_no_secret_is_seen_by_the_set_up_or_told_by_it(
    tmp_path: Path, paths: Paths, environ: dict[str, str]
) -> None:
    told: list[str] = []
    environ |= {"OPENAI_API_KEY": "k3y-of-agent", "PIP_INDEX_URL": "http://ada:hunter22@shelf.example/packages"}
    base = make_base(tmp_path, "env; exit 1")
    with pytest.raises(InterpreterError) as caught:
        await create_managed_venv(paths, environ, base=base, progress=told.append)
    everything = "\n".join([*told, str(caught.value)])
    assert "PIP_INDEX_URL" in everything
    assert "k3y-of-agent" not in everything
    assert "hunter22" not in everything


async def test_a_set_up_that_takes_too_long_is_ended(tmp_path: Path, paths: Paths, environ: dict[str, str]) -> None:
    base = make_base(tmp_path, "sleep 1000 & exec sleep 1000")
    with pytest.raises(DeadlineExceeded, match=r"not ready after 0\.3 seconds"):
        await create_managed_venv(paths, environ, base=base, seconds=0.3)


async def test_a_set_up_that_is_cancelled_leaves_no_process_and_is_begun_anew(
    tmp_path: Path, paths: Paths, environ: dict[str, str], no_descriptor_is_left: None
) -> None:
    stuck = make_base(tmp_path, f'echo > "{tmp_path}/up"; sleep 1000 & exec sleep 1000')
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: create_managed_venv(paths, environ, base=stuck))
            while not (tmp_path / "up").exists():  # noqa: ASYNC110 - another process makes it
                await anyio.sleep(0.005)
            group.cancel_scope.cancel()
        await create_managed_venv(paths, environ, base=quick_base(tmp_path), packages=())
    assert managed_candidate(paths).problem == ""
