"""Standard input and output as a client has them, in processes whose descriptors are those of the test."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_tree import ROOT

SOURCE = str(ROOT / "src")
ECHO = """
import os, sys
import anyio
from pisces.mcp.stdio.standard_streams import StandardStreams

async def main():
    with StandardStreams() as streams:
        os.write(1, b"noise of a library\\n")
        print("noise of a print", flush=True)
        os.system("echo noise of a child; cat")
        await streams.open()
        async for line in streams.incoming:
            await streams.outgoing.write(f"got {line}")
            await streams.outgoing.flush()
    print("afterwards", flush=True)

anyio.run(main)
"""

pytestmark = pytest.mark.processes


def run(**streams: object) -> "subprocess.CompletedProcess[bytes]":
    """The program, to its end."""
    options: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]  # the options are those of Popen
        [sys.executable, "-X", "dev", "-c", ECHO], env={"PYTHONPATH": SOURCE}, timeout=60, check=True, **options
    )


def test_only_answers_reach_the_client_and_only_we_read_what_it_sends() -> None:
    done = run(input=b"one\ntwo\n")
    assert done.stdout == b"got one\ngot two\nafterwards\n"
    assert sorted(done.stderr.splitlines()) == [b"noise of a child", b"noise of a library", b"noise of a print"]


def test_files_will_do_too(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"one\ntw\xff\n")
    with open(tmp_path / "in", "rb") as given, open(tmp_path / "out", "wb") as taken:
        run(stdin=given, stdout=taken)
    assert (tmp_path / "out").read_bytes() == "got one\ngot tw\ufffd\nafterwards\n".encode()


def test_one_socket_may_be_both() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            end = theirs.fileno()
            process = subprocess.Popen([sys.executable, "-c", ECHO], env={"PYTHONPATH": SOURCE}, stdin=end, stdout=end)
        try:
            ours.settimeout(60)
            with ours.makefile("rb") as answers:
                for word in (b"one\n", b"two\n"):
                    ours.sendall(word)
                    assert answers.readline() == b"got " + word
                ours.shutdown(socket.SHUT_WR)
                assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            process.wait()
