"""Artifacts that are larger than they may be: their ends stay, with the numbers that their lines had."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pisces.errors import ArtifactError
from pisces.output.artifact_text import LineRange, line_parts
from pisces.output.artifacts import ArtifactStore
from pisces.output.notice import truncation_notice
from pisces.output.sink import OutputSink

LIMIT = 40_000
LINES = 50_000


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write_numbered(store: ArtifactStore, lines: int = LINES, *, at_once: int = 37) -> str:
    """An artifact whose lines say their numbers."""
    with store.new("s", "python") as writer:
        for first in range(1, lines + 1, at_once):
            last = min(first + at_once, lines + 1)
            writer.write("".join(f"line {number}\n" for number in range(first, last)).encode())
            assert size_of(store.path(writer.id).parent) <= LIMIT
    return writer.id


def gap_of(store: ArtifactStore) -> tuple[int, int]:
    """Which lines are missing, as the error says."""
    with pytest.raises(ArtifactError) as caught:
        store.read("1", lines=LineRange(LINES // 2, LINES // 2 + 1))
    found = re.fullmatch(
        r"Artifact 1 was too large to be kept whole: lines (\d+)-(\d+) are missing\.", str(caught.value)
    )
    assert found is not None
    first, last = int(found[1]), int(found[2])
    assert (
        caught.value.hint
        == f"Read up to artifact://1:{max(1, first - 100)}-{first - 1}, or from artifact://1:{last + 1}-."
    )
    return first, last


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts", limit=LIMIT)


@pytest.fixture
def numbered(store: ArtifactStore) -> ArtifactStore:
    write_numbered(store)
    return store


def test_both_ends_are_kept_and_lines_keep_their_numbers(numbered: ArtifactStore) -> None:
    first, last = gap_of(numbered)
    assert 1 < first < last < LINES
    assert numbered.read("1", lines=LineRange(1, 2)) == "line 1\nline 2\n"
    assert numbered.read("1", lines=LineRange(first - 1, first - 1)) == f"line {first - 1}\n"
    assert numbered.read("1", lines=LineRange(last + 1, last + 2)) == f"line {last + 1}\nline {last + 2}\n"
    assert numbered.read("1", lines=LineRange(LINES)) == f"line {LINES}\n"
    kept = numbered.read("1", lines=LineRange(last + 1)).splitlines()
    assert kept == [f"line {number}" for number in range(last + 1, LINES + 1)]
    with pytest.raises(ArtifactError, match=f"has {LINES} lines; line {LINES + 1} is past its end"):
        numbered.read("1", lines=LineRange(LINES + 1))


@pytest.mark.parametrize("last", [True, LINES, None])
def test_a_range_over_the_gap_ends_there_and_says_where_to_go_on(numbered: ArtifactStore, last: int | None) -> None:
    first, end = gap_of(numbered)
    missing = f"lines {first}-{end} are missing: the output was too large to be kept whole"
    note = f"[…{missing}; go on with artifact://1:{end + 1}-…]\n"
    wanted = LineRange(first - 2, first if last is True else last)
    assert numbered.read("1", lines=wanted) == f"line {first - 2}\nline {first - 1}\n{note}"
    assert numbered.read("1").splitlines(keepends=True)[first - 2 :] == [f"line {first - 1}\n", note]


async def test_a_search_has_the_true_numbers_and_says_where_it_did_not_look(numbered: ArtifactStore) -> None:
    first, last = gap_of(numbered)
    note = f"[…lines {first}-{last} are missing: the output was too large to be kept whole…]"
    assert await numbered.search("1", r"line (7|49997)$") == f"7:line 7\n49997:line 49997\n{note}"
    assert await numbered.search("1", f"line {first}$") == f"No line of artifact 1 matches 'line {first}$'.\n{note}"
    assert await numbered.search("1", "line 49997", lines=LineRange(last + 1)) == "49997:line 49997"


def test_an_output_up_to_the_limit_is_whole(store: ArtifactStore) -> None:
    lines = b"".join(b"%07d\n" % number for number in range(LIMIT // 8))
    with store.new("s", "python") as writer:
        for start in range(0, len(lines), 1000):
            writer.write(lines[start : start + 1000])
    assert writer.missing == ""
    assert store.read("1") == lines.decode()


@pytest.mark.parametrize("at_once", [999, 100_000])
async def test_one_line_without_an_end_keeps_both_of_its_ends(store: ArtifactStore, at_once: int) -> None:
    text = "".join(f"{number:05d}ä" for number in range(30_000)).encode()
    with store.new("s", "python") as writer:
        for start in range(0, len(text), at_once):
            writer.write(text[start : start + at_once])
            assert size_of(store.path("1").parent) <= LIMIT
        writer.write(b"\nlast\n")
    whole = b"".join(part for _, part in line_parts(store.path("1"), "1", None)).decode()
    assert whole.startswith("00000ä00001ä")
    assert whole.endswith("29999ä\nlast\n")
    assert "�" not in whole
    assert "[…parts of line 1 are missing: the output was too large to be kept whole…]" in whole
    assert store.read("1", lines=LineRange(2)) == "last\n"
    assert store.read("1", lines=LineRange(1)).endswith("too large to be kept whole; go on with artifact://1:2-…]\n")
    assert (await store.search("1", "29999")).startswith("1:")


def test_a_line_whose_beginning_is_missing_says_so_and_stays_one_line(store: ArtifactStore) -> None:
    with store.new("s", "python") as writer:
        writer.write(b"short\n" * 4000)
        writer.write(b"x" * 30_000)
        writer.write(b"end\nlast\n")
    line, last = store.read("1", lines=LineRange(4001)).splitlines()
    assert line.startswith("[…parts of line 4001 are missing: the output was too large to be kept whole…]x")
    assert line.endswith("xend")
    assert last == "last"


KILLED = """
import sys
from pathlib import Path
from pisces.output.artifacts import ArtifactStore
writer = ArtifactStore(Path(sys.argv[1]), limit=40_000).new("s", "python")
for number in range(1, 50_001):
    writer.write(b"line %d\\n" % number)
print("written", flush=True)
sys.stdin.read()
"""


@pytest.mark.processes
def test_what_a_killed_process_wrote_can_be_read(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    store = ArtifactStore(tmp_path)
    gap_of(store)
    assert store.read("1", lines=LineRange(49_999)) == "line 49999\nline 50000\n"


def test_a_result_names_the_lines_that_are_missing(store: ArtifactStore) -> None:
    sink = OutputSink(spill=lambda: store.new("s", "python"))
    for number in range(1, LINES + 1):
        sink.write(f"line {number}\n")
    sink.close()
    first, last = gap_of(store)
    notice = truncation_notice(sink.dump())
    assert notice.endswith(
        f". Read artifact://1 for all but lines {first}-{last} (39.1 KiB limit, `output.artifactLimitMb`)]"
    )


def test_a_disk_that_gets_full_behind_the_gap_is_told_with_it(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = OutputSink(spill=lambda: store.new("s", "python"))
    for number in range(1, LINES + 1):
        sink.write(f"line {number}\n")
    sink.tail()

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pisces.output.artifact_file.create_private", full)
    for number in range(LINES + 1, 2 * LINES + 1):
        sink.write(f"line {number}\n")
    sink.close()
    first, last = gap_of(store)
    error = sink.dump().artifact_error
    assert error is not None
    assert f"lines {first}-{last}" in error
    assert re.search(r"the first \d+ bytes of the output without .*: .*No space left", error)


def test_the_oldest_artifacts_make_room_and_none_that_is_written_to(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, folder_limit=300_000)
    held = store.new("s", "python")
    held.write(b"held\n")
    for _ in range(5):
        with store.new("s", "python") as writer:
            for _ in range(70):
                writer.write(b"x" * 1000)
                assert size_of(tmp_path) <= 300_000
        os.utime(writer.path, (0, 0))  # How old an artifact is, its number says, and no clock.
    assert [path.name.partition(".")[0] for path in store.files()] == ["6", "5", "4", "3", "1"]
    held.close()
    assert ArtifactStore(tmp_path, folder_limit=150_000).prune(36_500) == 3
    assert [path.name.partition(".")[0] for path in store.files()] == ["6", "5"]


def test_one_artifact_is_never_larger_than_the_folder_may_be(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, limit=LIMIT * 10, folder_limit=LIMIT)
    write_numbered(store)
    gap_of(store)


def test_the_parts_of_an_artifact_are_deleted_with_it(tmp_path: Path) -> None:
    write_numbered(ArtifactStore(tmp_path, limit=LIMIT))
    ArtifactStore(tmp_path, folder_limit=1).prune(36_500)
    assert [path.name for path in tmp_path.rglob("*") if path.parent.name != ".ids"] == [".ids"]


def test_the_end_of_an_artifact_says_how_old_it_is(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.path(write_numbered(store))
    now = path.stat().st_mtime
    os.utime(path, (now - 20 * 86_400,) * 2)
    for days in (0, 2):
        monkeypatch.setattr("time.time", lambda days=days: now + days * 86_400)
        assert store.prune(14) == 0


def test_only_the_owner_can_read_the_parts_of_an_artifact(store: ArtifactStore) -> None:
    mask = os.umask(0)
    try:
        write_numbered(store)
    finally:
        os.umask(mask)
    assert not [path for path in store.path("1").parent.rglob("*") if path.stat().st_mode & 0o077]
