"""Artifacts: who gets which number, who can read them, and where they end up."""

import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pisces.errors import ArtifactError
from pisces.output.artifact_text import LineRange
from pisces.output.artifacts import ArtifactRef, ArtifactStore, parse_uri


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def add(store: ArtifactStore, text: str = "text\n", session: str = "s", tool: str = "python") -> str:
    return store.add_bytes(session, tool, text.encode(), extension="log")


def test_ids_count_up_over_all_sessions_and_tools(store: ArtifactStore) -> None:
    assert [add(store), add(store, session="other"), add(store, tool="bash")] == ["1", "2", "3"]
    assert store.path("2").parts[-2:] == ("other", "2.python.log")


def test_nothing_is_made_before_the_first_artifact(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "artifacts")
    with pytest.raises(ArtifactError, match=r"^Artifact 1 not found\. Available: none$"):
        store.path("1")
    assert store.prune(1) == 0
    assert list(tmp_path.iterdir()) == []


CLAIM_MANY = """
import sys
from pathlib import Path
from pisces.output.artifacts import ArtifactStore
store = ArtifactStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(50):
    with store.new(sys.argv[2], "python") as writer:
        print(writer.id)
"""


@pytest.mark.processes
def test_processes_that_begin_together_never_get_the_same_id(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM_MANY, str(tmp_path), f"session{number}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment,
        )
        for number in range(3)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ids = [int(line) for process in processes for line in process.communicate(timeout=60)[0].split()]
    assert sorted(ids) == list(range(1, 151))
    assert len(list(tmp_path.glob("session*/*.log"))) == 150


def test_an_id_that_was_taken_since_one_looked_is_not_given_again(tmp_path: Path) -> None:
    other = ArtifactStore(tmp_path)

    class Overtaken(ArtifactStore):
        """Another process is quicker, each time between looking which ids there are and taking one."""

        def _claimed(self) -> list[int]:
            seen = super()._claimed()
            add(other, "other\n")
            return seen

    assert [add(Overtaken(tmp_path), "own\n") for _ in range(2)] == ["2", "4"]
    assert [other.read(str(number)) for number in range(1, 5)] == ["other\n", "own\n"] * 2


def test_only_the_owner_can_read_artifacts(store: ArtifactStore) -> None:
    mask = os.umask(0)
    try:
        path = store.path(add(store))
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_the_folders_above_the_artifacts_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        add(ArtifactStore(tmp_path / "home" / "agent" / "artifacts"))
    finally:
        os.umask(mask)
    made = [tmp_path / "home", tmp_path / "home" / "agent"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in made] == [0o700, 0o700]


def test_a_folder_that_was_open_to_others_is_closed_to_them(tmp_path: Path) -> None:
    root = tmp_path / "artifacts"
    root.mkdir()
    root.chmod(0o755)
    add(ArtifactStore(root))
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name", ["../../etc", "/etc/passwd", "..", ".", "", "a/b", "a\x00b", "~", "x" * 500, ".ids", "漢"]
)
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    root = tmp_path / "artifacts"
    store = ArtifactStore(root)
    path = store.path(add(store, session=name, tool=name))
    assert path.resolve().parent.parent == root.resolve()
    assert [entry.name for entry in tmp_path.iterdir()] == ["artifacts"]
    assert store.read("1") == "text\n"


@pytest.mark.parametrize("wrong", ["../1", "1/../../x", "", "-1", "1.0", "*", "٣", "1" * 30, "1\n"])
def test_an_id_that_is_not_a_number_is_refused(wrong: str, store: ArtifactStore) -> None:
    add(store)
    with pytest.raises(ArtifactError) as caught:
        store.read(wrong)
    assert str(caught.value) == f"artifact:// ID must be numeric, got: {wrong}"


def test_a_missing_artifact_names_the_ten_newest(store: ArtifactStore) -> None:
    for _ in range(12):
        add(store)
    with pytest.raises(ArtifactError) as caught:
        store.read("99")
    assert str(caught.value) == "Artifact 99 not found. Available: 12, 11, 10, 9, 8, 7, 6, 5, 4, 3"


def test_other_kinds_of_data_keep_their_extension(store: ArtifactStore) -> None:
    artifact_id = store.add_bytes("s", "python", b"<svg/>", extension="svg")
    assert store.path(artifact_id).name == "1.python.svg"
    assert store.read(artifact_id) == "<svg/>"


def test_old_artifacts_are_pruned_and_their_ids_stay_used(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = add(store, session="old"), add(store, session="new")
    now = time.time()
    folder = store.path(old).parent
    for path in (store.path(old), folder.parent / ".ids" / old):
        os.utime(path, (now - 15 * 86400,) * 2)
    for days, keep, deleted in ((0, 14, 0), (1.1, 14, 1), (1.1, 0, 0)):
        monkeypatch.setattr("time.time", lambda days=days: now + days * 86400)
        assert store.prune(keep) == deleted
    assert not folder.exists()
    assert store.read(new) == "text\n"
    monkeypatch.setattr("time.time", lambda: now + 2.2 * 86400)
    assert store.prune(0) == 1
    assert add(store) == "3"


def test_a_writer_closed_twice_holds_no_descriptor(store: ArtifactStore, no_descriptor_is_left: None) -> None:
    writer = store.new("s", "python")
    writer.write(b"text")
    writer.close()
    writer.close()


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("artifact://3", ArtifactRef("3")),
        ("artifact://003", ArtifactRef("3")),
        ("artifact://3:100-200", ArtifactRef("3", LineRange(100, 200))),
        ("artifact://3:100-", ArtifactRef("3", LineRange(100))),
        ("artifact://3:7", ArtifactRef("3", LineRange(7, 7))),
    ],
)
def test_an_address_names_an_artifact_and_its_lines(uri: str, expected: ArtifactRef) -> None:
    assert parse_uri(uri) == expected


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("artifact://abc", "artifact:// ID must be numeric, got: abc"),
        ("artifact://", "artifact:// ID must be numeric, got: "),
        ("artifact://3/../4", "artifact:// ID must be numeric, got: 3/../4"),
        ("artifact://3:x-y", "Not a range of lines: 'x-y'"),
        ("artifact://3:0-5", "Not a range of lines: 0-5"),
        ("artifact://3:9-5", "Not a range of lines: 9-5"),
        ("file:///etc/passwd", "Not an artifact address: 'file:///etc/passwd'"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused_with_its_text(uri: str, message: str) -> None:
    with pytest.raises(ArtifactError, match=f"^{re.escape(message)}$"):
        parse_uri(uri)
