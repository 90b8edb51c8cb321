"""Whether an interpreter may run code of the folder, by where it lies and by what kind of file it is."""

import os
import shutil
from pathlib import Path

import pytest

from pisces.environment.folder_code import runs_folder_code
from pisces.environment.probe_cache import is_shim, signature_of

PYENV = '#!/bin/bash\nset -e\nexport PYENV_ROOT="/x/.pyenv"\nexec "/x/.pyenv/libexec/pyenv" exec "${0##*/}" "$@"\n'
ASDF = '#!/bin/sh\n# asdf-plugin: python 3.12.1\nexec /x/asdf/bin/asdf exec "python" "$@"\n'
WRAPPER = '#!/bin/sh\n[ -x env/bin/python ] && exec env/bin/python "$@"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    return folder


def linked(tmp_path: Path, name: str, real: str) -> Path:
    """A link of this name to a copy of a real binary of that name."""
    binary = tmp_path / "bin" / real
    binary.parent.mkdir()
    shutil.copy("/bin/true", binary)
    link = tmp_path / name
    link.symlink_to(binary)
    return link


def script(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "shims" / "python"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("real", ["mise", "true", "my-python"])
def test_a_link_to_a_binary_of_another_name_is_a_shim(tmp_path: Path, folder: Path, real: str) -> None:
    shim = linked(tmp_path, "python", real)
    assert is_shim(str(shim))
    assert runs_folder_code(str(shim), str(folder), {})
    assert signature_of(str(shim), str(folder), {}) != signature_of(str(shim), str(tmp_path), {})


@pytest.mark.parametrize("real", ["python", "python3.12", "Python", "pypy3.10", "graalpy", "python3.14t"])
def test_a_link_to_a_binary_that_is_named_like_a_python_is_none(tmp_path: Path, folder: Path, real: str) -> None:
    link = linked(tmp_path, "python3", real)
    assert not is_shim(str(link))
    assert not runs_folder_code(str(link), str(folder), {})


def test_a_binary_that_is_no_link_is_none_whatever_its_name(tmp_path: Path, folder: Path) -> None:
    binary = os.path.realpath(linked(tmp_path, "python", "tool"))
    assert not is_shim(binary)
    assert not runs_folder_code(binary, str(folder), {})


@pytest.mark.parametrize("text", [PYENV, ASDF])
def test_shims_of_pyenv_and_asdf_run_code_of_the_folder_only_with_a_version_file(
    tmp_path: Path, folder: Path, text: str
) -> None:
    shim = script(tmp_path, text)
    (tmp_path / ".tool-versions").write_text("python 3.12.1\n", encoding="utf-8")
    assert not runs_folder_code(str(shim), str(folder), {}), "a version file above the project is not the folder's"
    (folder / ".python-version").write_text("3.12.1\n", encoding="utf-8")
    assert runs_folder_code(str(shim), str(folder), {})


@pytest.mark.parametrize("entry", [".", "bin", "{}", "{}/bin"])
def test_a_shim_of_pyenv_may_run_what_path_has_in_the_folder(tmp_path: Path, folder: Path, entry: str) -> None:
    """Its version `system` is the next Python on PATH."""
    shim = str(script(tmp_path, PYENV))
    assert not runs_folder_code(shim, str(folder), {"PATH": "/usr/bin:/bin"})
    assert runs_folder_code(shim, str(folder), {"PATH": f"/usr/bin:{entry.format(folder)}:/bin"})


def test_a_script_elsewhere_that_ends_like_a_shim_of_pyenv_is_none(tmp_path: Path, folder: Path) -> None:
    wrapper = script(tmp_path, f"{WRAPPER}{PYENV}").rename(tmp_path / "python")
    assert runs_folder_code(str(wrapper), str(folder), {})


@pytest.mark.parametrize(
    "text",
    [
        f"{WRAPPER}exec ~/.pyenv/versions/3.12.1/bin/python\n",
        f"{PYENV}true\n",
        "#!/bin/sh\n",
        f"#!/bin/sh\n#{' ' * 100_000}\n{PYENV}",
    ],
)
def test_any_other_script_may_run_code_of_the_folder(tmp_path: Path, folder: Path, text: str) -> None:
    assert runs_folder_code(str(script(tmp_path, text)), str(folder), {})
