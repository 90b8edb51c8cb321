"""A program in a cell must not reach the terminal of the person who runs Pisces."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pisces

HOST = """
import os, sys, anyio
os.open(sys.argv[1], os.O_RDWR)  # The leader of a session gets the terminal that it opens first.
open('/dev/tty').close()
from pisces import Runtime

async def main():
    async with Runtime(cwd=sys.argv[2], settings={"python": {"interpreter": sys.argv[3]}}) as runtime:
        result = await runtime.python(code="open('/dev/tty', 'w').write('taken')")
        print(result.text)

anyio.run(main)
"""


# An interactive program in a cell takes the terminal.
def test_a_program_in_a_cell_finds_no_terminal_although_the_host_has_one(plain_python: str, tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    try:
        source = str(Path(pisces.__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-c", HOST, os.ttyname(terminal), str(tmp_path), plain_python],
            env={**os.environ, "PYTHONPATH": source},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(controller)
    assert done.returncode == 0, done.stderr
    assert "OSError" in done.stdout
    assert "/dev/tty" in done.stdout
