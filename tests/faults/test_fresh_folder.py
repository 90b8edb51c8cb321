"""A folder that was just cloned runs nothing of what it brings along, until a call needs its Python."""

import os
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pisces.runtime import Runtime
from tests.fakes.hosts import end_host
from tests.fakes.mcp_wire import wired
from tests.fakes.shells import write_rc
from tests.frontends.command import Command

pytestmark = pytest.mark.anyio


def make_script(file: Path, body: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


class Clone:
    """A folder with a Python of its own, or something else that runs with a Python, which leaves a mark."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self._python = python
        self._mark = folder.parent / "mark"
        (folder / ".git").mkdir(parents=True)

    def script(self, place: str) -> Path:
        """An interpreter that notes that it is run."""
        return make_script(self.folder / place, f'echo run >> {self._mark}\nexec {self._python} "$@"')

    def module(self, place: str) -> Path:
        """A module that notes that it is run."""
        return self.file(place, f"open({str(self._mark)!r}, 'a').write('run\\n')\n")

    def file(self, place: str, text: str) -> Path:
        """Any other file."""
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def has_run(self) -> bool:
        """Whether anything of it was run since it was last asked."""
        ran = self._mark.exists()
        self._mark.unlink(missing_ok=True)
        return ran


@pytest.fixture
def clone(tmp_path: Path, plain_python: str) -> Clone:
    return Clone(tmp_path / "clone", plain_python)


@pytest.fixture
def pisces(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """Commands in the clone, which has a `.venv`."""
    clone.script(".venv/bin/python")
    monkeypatch.chdir(clone.folder)
    pisces = Command("")
    yield pisces
    end_host(pisces)


Variables = dict[str, str]
Way = Callable[[Clone, str], Variables]


def dot_venv(clone: Clone, _python: str) -> Variables:
    clone.script(".venv/bin/python")
    return {}


def venv_of_a_folder_above(clone: Clone, _python: str) -> Variables:
    return {"VIRTUAL_ENV": str(clone.script("env/bin/python").parents[1])}


def venv_around_a_submodule(clone: Clone, python: str) -> Variables:
    clone.file("docs/.git", "gitdir: ../.git/modules/docs\n")
    return venv_of_a_folder_above(clone, python)


def folder_on_path(clone: Clone, _python: str) -> Variables:
    return {"PATH": f"{clone.script('bin/python').parent}:{os.environ['PATH']}"}


def setting(clone: Clone, _python: str) -> Variables:
    return {"PI_SET__python__interpreter": str(clone.script("tools/python"))}


def link_from_outside(clone: Clone, _python: str) -> Variables:
    link = clone.folder.parent / "python"
    link.symlink_to(clone.script("tools/python"))
    return {"PI_SET__python__interpreter": str(link)}


def link_to_the_outside(clone: Clone, _python: str) -> Variables:
    """As in a virtual environment: the program is the system's, and what it finds beside itself the folder's."""
    real = clone.script("elsewhere").rename(clone.folder.parent / "real")
    (clone.folder / ".venv" / "bin").mkdir(parents=True)
    (clone.folder / ".venv" / "bin" / "python").symlink_to(real)
    return {}


def module_search_path(clone: Clone, python: str) -> Variables:
    clone.module("src/sitecustomize.py")
    return {"PI_SET__python__interpreter": python, "PYTHONPATH": "src"}


def pyenv(clone: Clone, python: str) -> Path:
    """A shim like those of pyenv: it hands over to a program that goes by `.python-version` alone."""
    root = clone.folder.parent
    take_folder = f'[ -f {clone.folder}/.python-version ] && exec {clone.folder}/tools/python "$@"'
    manager = make_script(root / "pyenv", f'shift 2\n{take_folder}\nexec {python} "$@"')
    return make_script(root / "shims" / "python", f'export PYENV_ROOT={root}\nexec "{manager}" exec "${{0##*/}}" "$@"')


def shim_that_asks_the_folder(clone: Clone, python: str) -> Variables:
    clone.file(".python-version", "path:./tools\n")
    clone.script("tools/python")
    return {"PI_SET__python__interpreter": str(pyenv(clone, python))}


def wrapper_that_prefers_the_folder(clone: Clone, python: str) -> Variables:
    clone.script("env/bin/python")
    body = f'[ -x env/bin/python ] && exec env/bin/python "$@"\nexec {python} "$@"'
    return {"PI_SET__python__interpreter": str(make_script(clone.folder.parent / "bin" / "python", body))}


def link_to_a_tool_that_reads_the_folder(clone: Clone, python: str) -> Variables:
    clone.script("env/bin/python")
    clone.file("tool.conf", "env/bin/python\n")
    body = f'[ -f tool.conf ] && exec "$(cat tool.conf)" "$@"\nexec {python} "$@"'
    link = clone.folder.parent / "shims" / "python"
    link.parent.mkdir()
    link.symlink_to(make_script(clone.folder.parent / "tool", body))
    return {"PI_SET__python__interpreter": str(link)}


WAYS: list[Way] = [
    dot_venv,
    venv_of_a_folder_above,
    venv_around_a_submodule,
    folder_on_path,
    setting,
    link_from_outside,
    link_to_the_outside,
    module_search_path,
    shim_that_asks_the_folder,
    wrapper_that_prefers_the_folder,
    link_to_a_tool_that_reads_the_folder,
]
IN_THE_FOLDER_ITSELF = {
    dot_venv,
    link_to_the_outside,
    module_search_path,
    wrapper_that_prefers_the_folder,
    link_to_a_tool_that_reads_the_folder,
}
"""The others begin in a folder below it."""


@pytest.mark.parametrize("way", WAYS)
async def test_code_of_a_folder_runs_with_the_first_call_and_ahead_of_it_only_where_it_was_used_before(
    clone: Clone, plain_python: str, way: Way
) -> None:
    environ = {**os.environ, **way(clone, plain_python)}
    cwd = clone.folder / "docs"
    if way in IN_THE_FOLDER_ITSELF:
        cwd = clone.folder
    cwd.mkdir(exist_ok=True)
    for used_before in (False, True):
        async with Runtime(cwd=cwd, environ=environ) as runtime:
            await runtime.warm_up()
            offer = await runtime.offer()
            assert "python" in offer.tools, offer.warning
            assert "command ran" in (await runtime.bash("echo command ran")).text
            assert not clone.has_run() or used_before
            result = await runtime.python(code="1 + 1")
            assert result.text == "2", result.text
            assert clone.has_run() or used_before


@pytest.mark.parametrize("known_by", ["pyvenv.cfg", "conda-meta/history"])
async def test_a_command_runs_no_program_of_the_folder_that_it_does_not_name(
    clone: Clone, own_home: Path, known_by: str
) -> None:
    write_rc(own_home, "dircolors\nuname")
    clone.script(".venv/bin/python")
    clone.file(f".venv/{known_by}", "")
    for program in ("bash", "dircolors", "uname"):
        clone.script(f".venv/bin/{program}")
    async with Runtime(cwd=clone.folder, environ={**os.environ, "SHELL": "/bin/zsh"}) as runtime:
        result = await runtime.bash('echo "${BASH##*/} ran"; command -v uname')
        assert result.text == f"bash ran\n{clone.folder}/.venv/bin/uname", result.text
        assert not clone.has_run()
        await runtime.bash("uname")
        assert clone.has_run(), "this one it names"


async def test_a_shim_that_goes_by_version_files_is_warmed_up_where_the_folder_has_none(
    clone: Clone, plain_python: str
) -> None:
    environ = {**os.environ, "PI_SET__python__interpreter": str(pyenv(clone, plain_python))}
    async with Runtime(cwd=clone.folder, environ=environ) as runtime:
        await runtime.warm_up()
        known = runtime.interpreters.known(None)
    assert known is not None
    assert known.path == plain_python


@pytest.fixture
def venv_python(clone: Clone) -> Path:
    """A real virtual environment in the clone, with a package that runs whenever its Python starts."""
    venv.create(clone.folder / ".venv", symlinks=True, with_pip=False)
    packages = clone.folder / f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    clone.module("mark.py").rename(packages / "mark_of_the_folder.py")
    (packages / "mark.pth").write_text("import mark_of_the_folder\n", encoding="utf-8")
    return clone.folder / ".venv" / "bin" / "python"


def swap_the_configuration(python: Path) -> None:
    config = python.parents[1] / "pyvenv.cfg"
    text = config.read_text(encoding="utf-8")
    config.unlink()
    config.write_text(text, encoding="utf-8")


def swap_the_program(python: Path) -> None:
    real = python.resolve()
    python.unlink()
    make_script(python, f'exec {real} "$@"')


@pytest.mark.parametrize("skip", ["0", "1"])
@pytest.mark.parametrize("swap", [swap_the_configuration, swap_the_program])
async def test_a_venv_that_was_used_is_warmed_up_until_it_is_another_one(
    clone: Clone, venv_python: Path, swap: Callable[[Path], None], skip: str
) -> None:
    async def warms_up() -> bool:
        async with Runtime(cwd=clone.folder, environ={**os.environ, "PI_PYTHON_SKIP_CHECK": skip}) as runtime:
            await runtime.warm_up()
        return clone.has_run()

    assert not await warms_up()
    async with Runtime(cwd=clone.folder, environ={**os.environ, "PI_PYTHON_SKIP_CHECK": skip}) as runtime:
        assert (await runtime.python(code="1 + 1")).text == "2"
    assert clone.has_run()
    assert await warms_up()
    swap(venv_python)
    assert not await warms_up()


async def test_a_python_of_the_folder_that_does_not_work_costs_only_the_first_start_its_warm_up(
    clone: Clone, plain_python: str
) -> None:
    broken = clone.script(".venv/bin/python")
    broken.write_text(broken.read_text(encoding="utf-8").replace("exec", "exit 1;"), encoding="utf-8")
    environ = {**os.environ, "PATH": f"{Path(plain_python).parent}:{os.environ['PATH']}"}
    async with Runtime(cwd=clone.folder, environ=environ) as runtime:
        await runtime.warm_up()
        assert not clone.has_run()
        assert (await runtime.python(code="1 + 1")).text == "2"
    async with Runtime(cwd=clone.folder, environ=environ) as runtime:
        await runtime.warm_up()
        known = runtime.interpreters.known(None)
    assert known is not None
    assert known.path == plain_python


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
async def test_asking_for_the_packages_of_jupyter_runs_no_module_of_the_folder(
    clone: Clone, plain_python: str, backend: str
) -> None:
    for module in ("contextlib", "importlib", "types", "warnings"):
        clone.module(f"{module}.py")
    clone.file(".pisces/settings.toml", f'[python]\nbackend = "{backend}"\n')
    environ = {**os.environ, "PI_SET__python__interpreter": plain_python}
    async with Runtime(cwd=clone.folder, environ=environ) as runtime:
        await runtime.warm_up()
        warning = (await runtime.offer()).warning
    assert not clone.has_run()
    assert "not installed" in warning


def test_an_mcp_client_that_only_looks_runs_nothing(pisces: Command, clone: Clone) -> None:
    with wired(pisces, "--tools", "all") as wire:
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            wire.result(wire.request(method))
        wire.result(wire.call("session", {"action": "list"}))
        assert "ran" in str(wire.result(wire.call("bash", {"command": "echo ran"})))
        assert not clone.has_run()
        wire.run("1 + 1")
        assert clone.has_run()
        wire.hang_up()
        assert wire.wait() == 0


@pytest.mark.parametrize(
    "command",
    ["session list", "modules list", "settings", "gateway status", "gateway stop", "host status", "ui --plain"],
)
def test_commands_that_only_look_run_nothing(pisces: Command, clone: Clone, command: str) -> None:
    pisces(*command.split())
    assert not clone.has_run()


def test_the_doctor_runs_code_of_the_folder_only_when_it_is_told_to(pisces: Command, clone: Clone) -> None:
    looked = pisces("doctor")
    assert not clone.has_run()
    assert "--run" in looked.stdout
    assert "not examined" in looked.stdout
    assert (looked.returncode, looked.stderr) == (0, "")
    told = pisces("doctor", "--run")
    assert clone.has_run()
    assert "1+1 in" in told.stdout
    assert "1+1 in" in pisces("doctor").stdout, "it was used here before"


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_doctor_asks_a_person(pisces: Command, clone: Clone, answer: str) -> None:
    with pisces.at_terminal("doctor", columns=200) as terminal:
        terminal.until("Run it? [y/N]")
        assert not clone.has_run()
        terminal.type(f"{answer}\r")
        terminal.until("1+1 in" if answer == "y" else "not examined")
    assert clone.has_run() is (answer == "y")
