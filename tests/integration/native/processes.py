"""Cells that start processes which are hard to end, and finding out whether they are gone."""

import psutil

from tests.fakes.drive import eventually

FAMILY = """
import os, subprocess, sys, time

def forked(run):
    '''A daemon: forked twice, in a session of its own, and none of our children any more.'''
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode() + b' ')
            os.close(write); os.close(read)
            run()
            os._exit(0)
        os._exit(0)
    os.wait()
    os.close(write)
    pid = int(os.read(read, 100))
    os.close(read)
    return pid

plain = subprocess.Popen(['sleep', '300']).pid
own_session = subprocess.Popen(['sleep', '300'], start_new_session=True).pid
daemon = forked(lambda: time.sleep(300))
other_program = forked(lambda: os.execvp('sleep', ['sleep', '300']))
def nameless(run):
    os.closerange(0, 1 << 20)
    run()

nameless_daemon = forked(lambda: nameless(lambda: time.sleep(300)))
nameless_program = forked(lambda: nameless(lambda: os.execve('/bin/sleep', ['sleep', '300'], {})))
stopped = subprocess.Popen(['sleep', '300']).pid
os.kill(stopped, 19)
ignoring = subprocess.Popen(['sh', '-c', 'trap "" TERM INT HUP; sleep 300; sleep 300']).pid
print('pids', os.getpid(), plain, own_session, daemon, other_program, flush=True, end=' ')
print(nameless_daemon, nameless_program, stopped, ignoring, flush=True)
"""
"""Prints `pids`, then the kernel's pid and those of its processes."""


def pids_in(text: str) -> list[int]:
    """The numbers behind the word `pids`."""
    return [int(word) for word in text.split("pids", 1)[1].split("\n", 1)[0].split()]


async def stop(pid: int) -> psutil.Process:
    """Stop a process by SIGSTOP, and wait until the system has done so."""
    process = psutil.Process(pid)
    process.suspend()
    await eventually(lambda: process.status() == psutil.STATUS_STOPPED)
    return process


def alive(pids: list[int]) -> list[int]:
    """Those that still run; what has ended and was not reaped yet counts as gone."""
    return [pid for pid in pids if psutil.pid_exists(pid) and _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.NoSuchProcess:
        return False
