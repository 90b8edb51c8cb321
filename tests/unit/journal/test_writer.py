"""The file of a journal: private, whole lines, and no trouble for anybody else."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pisces.journal.entries import Reset
from pisces.journal.line import encode_line
from pisces.journal.reader import read_journal
from pisces.journal.writer import JournalFile


def test_the_file_and_its_folders_are_the_users_alone(tmp_path: Path, no_descriptor_is_left: None) -> None:
    file = JournalFile(tmp_path / "sessions" / "s" / "a.jsonl")
    file.append(b"{}\n")
    file.close()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    for folder in (file.path.parent, file.path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_is_made_before_the_first_line(tmp_path: Path) -> None:
    file = JournalFile(tmp_path / "sessions" / "s" / "a.jsonl")
    assert file.size == 0
    file.close()
    assert list(tmp_path.iterdir()) == []


APPEND_MANY = """
import sys
from pathlib import Path
from pisces.journal.writer import JournalFile
file = JournalFile(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(300):
    file.append(sys.argv[2].encode() * 4999 + b"\\n")
"""


@pytest.mark.processes
def test_processes_that_write_together_never_mix_their_lines(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    target = tmp_path / "together.jsonl"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND_MANY, str(target), letter],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment,
        )
        for letter in "ab"
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.communicate("\n", timeout=60)
    lines = target.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 600
    assert {(line[0], len(line), len(set(line))) for line in lines} == {("a", 4999, 1), ("b", 4999, 1)}


def test_a_folder_that_cannot_be_used_is_told_and_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    file = JournalFile(tmp_path / "file" / "s" / "a.jsonl")
    assert not file.append(b"{}\n")
    assert not file.append(b"{}\n")
    assert file.trouble.startswith("The journal of this session is incomplete: ")
    assert caplog.text.count("could not be written") == 1


def test_a_disk_that_is_full_for_a_while_tears_one_line_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = JournalFile(tmp_path / "a.jsonl")
    write, line = os.write, encode_line(Reset(1.0))
    answers = iter([lambda fd, data: write(fd, data[:5]), _no_space])

    def answer(descriptor: int, data: bytes) -> int:
        return next(answers)(descriptor, data)

    assert file.append(line)
    monkeypatch.setattr(os, "write", answer)
    assert not file.append(line)
    monkeypatch.setattr(os, "write", write)
    assert file.append(line)
    file.close()
    reading = read_journal(file.path)
    assert (reading.entries, reading.torn) == ((Reset(1.0), Reset(1.0)), 1)
    assert "No space left" in file.trouble


def _no_space(_descriptor: int, _data: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
