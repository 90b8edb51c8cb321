"""The supervisor in a moment that cannot be brought about from outside."""

import signal
from pathlib import Path

from tests.unit.guest.forked_process import run_forking

KILLED_TOO_EARLY = """
import json, socket, subprocess
from _pisces_guest import processes
from _pisces_guest.zygote import Supervisor

theirs, ours = socket.socketpair()
parent = subprocess.Popen(["sh", "-c", "sleep 300 & echo $!; wait"], stdout=subprocess.PIPE)
pid = int(parent.stdout.readline())
supervisor = Supervisor(theirs, 300.0)
adopt = {"type": "adopt", "kernel": "ea41", "pid": pid, "start_time": processes.start_time(pid)}
supervisor._handle(adopt)
supervisor._handle({"type": "kill", "kernel": "ea41"})
parent.wait()
report([json.loads(line) for line in ours.recv(65536).splitlines()])
"""


def test_a_kernel_that_is_not_a_child_of_the_supervisor_yet_can_be_killed(tmp_path: Path) -> None:
    spawned, exited, cleared = run_forking(KILLED_TOO_EARLY, cwd=tmp_path)
    assert spawned["type"] == "spawned"
    assert (exited["type"], exited["signal"]) == ("exited", signal.SIGKILL)
    assert cleared["type"] == "cleared"
