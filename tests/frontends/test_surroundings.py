"""The command where the world around it is broken: one sentence about that, and no word of a fault in Pisces."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.frontends.command import PATIENCE, Command


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [["run", "-c", "1"], ["run", "--json", "-c", "1"], ["run", "--no-stream", "-c", "1"], ["settings"], ["--version"]],
    ids=" ".join,
)
def test_an_output_that_is_full_is_told_as_such(pisces: Command, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        running = pisces.start(*arguments, stdout=full)
        _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1
    assert said.decode("utf-8").splitlines() == [
        "Error: Standard output cannot be written: No space left on device.",
        "Make room where it goes, or send it elsewhere.",
    ]


def start_in_removed_folder(pisces: Command, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    folder.mkdir()
    return pisces.start(*arguments, cwd=folder, preexec_fn=lambda: os.rmdir(folder))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "-c", "1"], "Error: Working directory cannot be used: the current one"),
        (["settings"], "Error: The current folder has been removed."),
        (["doctor"], "Error: The current folder has been removed."),
    ],
)
def test_a_current_folder_that_was_removed_is_told_as_such(
    pisces: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    running = start_in_removed_folder(pisces, tmp_path / "gone", *arguments)
    _, errors = running.communicate(timeout=PATIENCE)
    assert errors.decode("utf-8").startswith(said)
    assert running.returncode != 0


def test_another_folder_can_be_used_from_one_that_was_removed(
    pisces: Command, tmp_path: Path, plain_python: str
) -> None:
    arguments = ("run", "--cwd", str(tmp_path), "--interpreter", plain_python, "-c", "6 * 7")
    running = start_in_removed_folder(pisces, tmp_path / "gone", *arguments)
    out, _ = running.communicate(timeout=PATIENCE)
    assert (out, running.returncode) == (b"42\n", 0)


def test_a_folder_that_is_a_link_to_itself_is_bad_use(pisces: Command, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    done = pisces("run", "--cwd", str(loop), "-c", "1")
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: Working directory cannot be used: {loop}")
