"""The least that a fresh Python with IPython can cost: a process that has it loaded forks a child, which answers.

The child runs the cell in the shell that it inherited and writes the value to a pipe; it has no session, no streams
of its own, and nobody looks after it.

python -m bench.state.hosts.bare_fork INTERPRETER COUNT
"""

import subprocess
import sys
import time

from bench.state.hosts.timing import hand_over
from bench.subject_process import end, read_line

_WARM_UP = 3
_SECONDS = 60.0
_PROTOTYPE = r"""
import gc, os, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(history_length=0)
shell.history_manager.enabled = False
shell.run_cell("warm = 0", store_history=False)
gc.freeze()
os.write(1, b"ready\n")
while os.read(0, 1):
    pid = os.fork()
    if pid == 0:
        shell.run_cell("value = 1+1", store_history=False)
        os.write(1, b"%d\n" % shell.user_ns["value"])
        os._exit(0)
    os.waitpid(pid, 0)
"""


def _main(interpreter: str, count: int) -> None:
    process = subprocess.Popen(
        [interpreter, "-c", _PROTOTYPE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        _expect(process, "ready\n")
        seconds = [_fork(process) for _ in range(_WARM_UP + count)][_WARM_UP:]
    finally:
        end(process)
    hand_over({"bare fork": seconds})


def _fork(process: subprocess.Popen[str]) -> float:
    assert process.stdin is not None
    began = time.perf_counter()
    process.stdin.write("f")
    process.stdin.flush()
    _expect(process, "2\n")
    return time.perf_counter() - began


def _expect(process: subprocess.Popen[str], line: str) -> None:
    answer = read_line(process, _SECONDS)
    if answer != line:
        raise RuntimeError(f"the prototype said {answer!r} and not {line!r}")


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
