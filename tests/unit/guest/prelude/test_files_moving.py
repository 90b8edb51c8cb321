"""Files and folders are moved and copied as `mv` and `cp` do it."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude.names import cp, mv, write
from tests.unit.guest.prelude.counterparts import PLAIN, each_raises, snapshot

pytestmark = pytest.mark.processes

LEAVES = st.sampled_from(["text", "other text", "program", "link to a", "link to nothing"])
FOLDERS = st.recursive(
    LEAVES, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=6
).filter(lambda made: isinstance(made, dict))


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("moving")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(path: Path, what: Any) -> None:
    if isinstance(what, dict):
        path.mkdir()
        for name, inner in what.items():
            plant(path / name, inner)
    elif what.startswith("link"):
        path.symlink_to("a" if what == "link to a" else "nowhere")
    else:
        path.write_text(what, encoding="utf-8")
        path.chmod(0o755 if what == "program" else 0o640)


def twice(ground: Path, made: dict[str, Any]) -> tuple[Path, Path]:
    """Two folders with the same in them: one for the command, one for the helper."""
    for name in ("theirs", "ours"):
        shutil.rmtree(ground / name, ignore_errors=True)
        plant(ground / name, made)
    return ground / "theirs", ground / "ours"


def went_well(*command: str, cwd: Path) -> bool:
    return subprocess.run(command, cwd=cwd, env=PLAIN, capture_output=True, check=False).returncode == 0


def does(call: Any, *paths: Path) -> bool:
    try:
        call(*paths)
    except (OSError, ValueError):
        return False
    return True


@settings(max_examples=40)
@given(source=FOLDERS, target=FOLDERS)
def test_folders_are_merged_as_cp_does(ground: Path, source: Any, target: Any) -> None:
    theirs, ours = twice(ground, {"source": source, "target": target})
    expected = went_well("cp", "-rT", "source", "target", cwd=theirs)
    assert does(cp, ours / "source", ours / "target") == expected
    assert snapshot(ours) == snapshot(theirs)


@settings(max_examples=50)
@given(
    made=st.fixed_dictionaries({"source": LEAVES | FOLDERS}, optional={"target": LEAVES | FOLDERS}),
    inner=st.none() | LEAVES | FOLDERS,
)
def test_moves_are_those_of_mv(ground: Path, made: dict[str, Any], inner: Any) -> None:
    if inner is not None and isinstance(made.get("target"), dict):
        made["target"]["source"] = inner
    theirs, ours = twice(ground, made)
    expected = went_well("mv", "-f", "source", "target", cwd=theirs)
    assert does(mv, ours / "source", ours / "target") == expected
    assert snapshot(ours) == snapshot(theirs)


@settings(max_examples=40)
@given(
    source=st.sampled_from(["text", "program"]), target=st.none() | LEAVES | st.just({}) | st.just({"source": "text"})
)
def test_a_file_is_copied_as_cp_does(ground: Path, source: str, target: Any) -> None:
    made = {"source": source, "a": "other text", **({} if target is None else {"target": target})}
    theirs, ours = twice(ground, made)
    expected = went_well("cp", "source", "target", cwd=theirs)
    assert does(cp, ours / "source", ours / "target") == expected
    assert snapshot(ours) == snapshot(theirs)


def test_what_is_told_and_returned(here: Path, events: list[dict[str, Any]]) -> None:
    write("a", "x")
    Path("d").mkdir()
    events.clear()
    assert cp("a", "new/b") == Path("new/b")
    assert mv(Path("a"), "d") == Path("d/a")
    assert mv("new", here / "d/e") == here / "d/e"
    assert events == [
        {"op": "cp", "src": "a", "dst": "new/b"},
        {"op": "mv", "src": "a", "dst": "d"},
        {"op": "mv", "src": "new", "dst": str(here / "d/e")},
    ]


def test_a_slash_at_the_end_means_a_folder_to_put_a_file_in() -> None:
    write("a", "x")
    assert cp("a", "new/") == Path("new/a")
    assert mv("a", "newer/") == Path("newer/a")
    assert mv("new", "moved/") == Path("moved")
    assert Path("moved/a").is_file()


def test_folders_on_the_way_are_made() -> None:
    write("d/a", "x")
    assert cp("d", "p/q/d") == Path("p/q/d")
    assert mv("d", "r/s/d") == Path("r/s/d")
    assert (Path("p/q/d/a").read_bytes(), Path("r/s/d/a").read_bytes()) == (b"x", b"x")


def test_the_same_file_is_an_error_and_stays() -> None:
    write("d/a", "x")
    os.symlink("d/a", "link")
    os.link("d/a", "hard")
    each_raises(
        ValueError,
        "are the same f",
        lambda: cp("d/a", "d/a"),
        lambda: cp("d/a", "d"),
        lambda: cp("d/a", "link"),
        lambda: cp("d/a", "hard"),
        lambda: cp("d", "d/../d"),
        lambda: mv("d/a", "./d/a"),
        lambda: mv("d/a", "d"),
        lambda: mv("d/a", "hard"),
    )
    assert Path("d/a").read_bytes() == b"x"


def test_a_folder_is_not_put_inside_itself(here: Path) -> None:
    write("d/a", "x")
    before = snapshot(here)
    each_raises(
        ValueError,
        "cannot be put inside itself",
        lambda: cp("d", "d/e"),
        lambda: cp(".", "d/e"),
        lambda: mv("d", "d"),
        lambda: mv("d", "d/e/f"),
        lambda: mv(".", "d"),
    )
    assert snapshot(here) == before


def test_the_working_folder_is_copied_by_what_is_in_it() -> None:
    write("d/a", "x")
    os.chdir("d")
    assert cp(".", "../copy") == Path("../copy")
    assert os.listdir("../copy") == ["a"]


@pytest.mark.parametrize("call", [cp, mv])
def test_what_is_not_there_is_told(call: Any) -> None:
    with pytest.raises(FileNotFoundError, match="'no/such'"):
        call("no/such", "new/place")
    assert os.listdir() == []


@pytest.mark.parametrize("call", [cp, mv])
def test_what_is_no_path_is_refused(call: Any) -> None:
    write("a", "x")
    for wrong in (None, 3, b"x"):
        with pytest.raises(TypeError, match="a path is a text or a Path"):
            call("a", wrong)
        with pytest.raises(TypeError, match="a path is a text or a Path"):
            call(wrong, "a")
    each_raises(ValueError, r"is empty|is an address", lambda: call("a", ""), lambda: call("memory://a", "b"))
    assert os.listdir() == ["a"]


def test_a_pipe_in_a_folder_is_told_and_the_rest_is_copied() -> None:
    write("d/a", "x")
    os.mkfifo("d/b")
    write("d/c", "y")
    with pytest.raises(OSError, match=r"d: the rest was copied, but not d/b \(d/b is no plain file"):
        cp("d", "e")
    assert sorted(os.listdir("e")) == ["a", "c"]
    with pytest.raises(ValueError, match="d/b is no plain file"):
        cp("d/b", "f")


def test_a_folder_that_may_not_be_written_is_copied_with_all_in_it() -> None:
    write("d/e/a", "x")
    os.chmod("d/e", 0o555)
    cp("d", "copy")
    assert stat.S_IMODE(os.stat("copy/e").st_mode) == 0o555
    assert os.listdir("copy/e") == ["a"]


@pytest.fixture
def other_disk(here: Path) -> Iterator[Path]:
    """A folder on another file system than the one we are in."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == here.stat().st_dev:
        pytest.skip("there is no second file system to move to")
    with tempfile.TemporaryDirectory(dir=memory, prefix="pisces-moving-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("what", ["program", "link to nothing", {"a": "text", "b": {"c": "link to a"}, "d": {}}])
def test_a_move_to_another_disk_is_one(here: Path, other_disk: Path, what: Any) -> None:
    plant(here / "source", what)
    before = snapshot(here)
    assert mv("source", other_disk) == other_disk / "source"
    assert snapshot(other_disk) == before
    assert os.listdir(here) == []


def test_a_move_to_another_disk_that_fails_leaves_all_as_it_was(here: Path, other_disk: Path) -> None:
    plant(here / "source", {"a": "text", "z": {}})
    os.mkfifo(here / "source" / "z" / "pipe")
    with pytest.raises(OSError, match="pipe"):
        mv("source", other_disk / "target")
    assert os.listdir(other_disk) == []
    assert sorted(os.listdir(here / "source")) == ["a", "z"]
