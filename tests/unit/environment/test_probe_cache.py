import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pisces.environment import ProbeCache
from pisces.environment.probe import ProbeAnswer
from pisces.environment.probe_cache import signature_of

Change = Callable[[Path], None]


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Something like the interpreter of a virtual environment: a link to a binary elsewhere."""
    real = tmp_path / "python3.12"
    real.write_bytes(b"\x7fELF")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /x\n", encoding="utf-8")
    (venv / "bin" / "python").symlink_to(real)
    return venv / "bin" / "python"


def answer(executable: Path | str) -> ProbeAnswer:
    return ProbeAnswer((3, 12, 1), str(executable), "/p", "/b", "linux", "cpython", has_ipython=True)


def signature(path: Path, cwd: str = "/", **environ: str) -> tuple[str, ...]:
    return signature_of(str(path), cwd, environ)


def test_an_answer_outlasts_the_process_but_what_pip_can_change_does_not(tmp_path: Path, python: Path) -> None:
    ProbeCache(tmp_path / "c").put(str(python), signature(python), answer(python))
    kept = ProbeCache(tmp_path / "c").get(str(python), signature(python))
    assert kept is not None
    assert kept.version == (3, 12, 1)
    assert kept.has_ipython is None


def test_only_the_owner_can_read_what_is_kept(tmp_path: Path, python: Path) -> None:
    mask = os.umask(0)
    try:
        ProbeCache(tmp_path / "home" / "cache").put(str(python), signature(python), answer(python))
    finally:
        os.umask(mask)
    kept = [tmp_path / "home", *(tmp_path / "home").rglob("*")]
    assert [path.name for path in kept if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    assert len(kept) == 3


def test_without_a_folder_nothing_lasts(python: Path) -> None:
    cache = ProbeCache()
    cache.put(str(python), signature(python), answer(python))
    assert cache.get(str(python), signature(python)) == answer(python)
    assert ProbeCache().get(str(python), signature(python)) is None


def change_binary(python: Path) -> None:
    python.resolve().write_bytes(b"\x7fELF2")


def change_link(python: Path) -> None:
    other = python.parent / "python3.13"
    other.write_bytes(b"\x7fELF")
    python.unlink()
    python.symlink_to(other)


def change_configuration(python: Path) -> None:
    os.utime(python.parent.parent / "pyvenv.cfg", ns=(1, 1))


def remove(python: Path) -> None:
    python.resolve().unlink()


@pytest.mark.parametrize("change", [change_binary, change_link, change_configuration, remove])
def test_an_answer_counts_only_while_the_files_are_the_same(tmp_path: Path, python: Path, change: Change) -> None:
    cache = ProbeCache(tmp_path / "c")
    cache.put(str(python), signature(python), answer(python))
    change(python)
    assert cache.get(str(python), signature(python)) is None


def test_an_answer_does_not_count_when_the_interpreter_behind_a_shim_is_gone(tmp_path: Path, python: Path) -> None:
    shim = tmp_path / "shim"
    shim.write_text("#!/bin/sh\n", encoding="utf-8")
    cache = ProbeCache(tmp_path / "c")
    cache.put(str(shim), signature(shim), answer(python))
    assert cache.get(str(shim), signature(shim)) is not None
    python.unlink()
    assert cache.get(str(shim), signature(shim)) is None


def test_a_shim_is_asked_again_where_it_may_choose_differently(tmp_path: Path) -> None:
    shim = tmp_path / "shim"
    shim.write_text("#!/bin/sh\n", encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    here = signature(shim, str(project))
    assert signature(shim, str(project)) == here
    assert signature(shim, str(tmp_path)) != here
    assert signature(shim, str(project), PYENV_VERSION="3.9") != here
    (tmp_path / ".python-version").write_text("3.12\n", encoding="utf-8")
    assert signature(shim, str(project)) != here


def test_a_binary_is_the_same_wherever_it_is_asked_from(python: Path) -> None:
    assert signature(python, "/") == signature(python, "/tmp", PYENV_VERSION="3.9")


@pytest.mark.parametrize("content", [b"", b"garbage", b"{}", b'{"signature": 3}'])
def test_a_broken_entry_is_no_entry(tmp_path: Path, python: Path, content: bytes) -> None:
    folder = tmp_path / "c"
    ProbeCache(folder).put(str(python), signature(python), answer(python))
    (entry,) = folder.iterdir()
    entry.write_bytes(content)
    assert ProbeCache(folder).get(str(python), signature(python)) is None


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_cache(tmp_path: Path, python: Path) -> None:
    (tmp_path / "file").touch()
    cache = ProbeCache(tmp_path / "file" / "c")
    cache.put(str(python), signature(python), answer(python))
    assert cache.get(str(python), signature(python)) == answer(python)


def test_a_path_that_is_not_utf8_is_kept_in_memory_only(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"p\xff")
    odd.write_bytes(b"\x7fELF")
    cache = ProbeCache(tmp_path / "c")
    cache.put(str(odd), signature(odd), answer(odd))
    assert cache.get(str(odd), signature(odd)) == answer(odd)


def test_the_cache_is_private_and_leaves_no_scratch_files(tmp_path: Path, python: Path) -> None:
    folder = tmp_path / "c"
    for _ in range(3):
        ProbeCache(folder).put(str(python), signature(python), answer(python))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.suffix for file in folder.iterdir()] == [".json"]
