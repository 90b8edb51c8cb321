"""What a process may ask for, and what several use together, in processes of their own."""

from pathlib import Path

import pytest

from tests.unit.guest.forked_process import run_forking

SHARED_BY_FORKS = """
from _pisces_guest import memory_watch
held = b"x" * (40 << 20)
read, write = os.pipe()
pids = [os.getpid()]
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    pids.append(pid)
few = memory_watch.Allowance(20, 0).is_exceeded_by(pids)
many = memory_watch.Allowance(100, 0).is_exceeded_by(pids)
report([sum(map(memory_watch.held, pids)) >> 20, memory_watch.certainly_held(pids) >> 20, few, many])
os.close(write)
"""
LIMITS = """
from _pisces_guest import memory_limit
def fits(mb):
    try:
        return len(bytearray(mb << 20)) > 0
    except MemoryError:
        return False
memory_limit.set_limit(50)
def after(step):
    step()
    return [fits(40), fits(60), fits(100)]
report([after(step) for step in arguments_of(memory_limit)])
"""


def test_pages_that_forked_processes_share_are_counted_once(tmp_path: Path) -> None:
    rough, certain, few, many = run_forking(SHARED_BY_FORKS, cwd=tmp_path)
    assert rough > 160
    assert 40 <= certain < 80
    assert (few, many) == (True, False)


@pytest.mark.parametrize(
    ("step", "fits"),
    [
        ("enforce", [True, False, False]),
        ("ease", [True, True, False]),
        ("lift", [True, True, True]),
        ("bound_extra", [True, False, False]),
    ],
)
def test_a_cell_has_its_limit_our_own_code_a_little_more_and_a_sleeper_none(
    tmp_path: Path, step: str, fits: list[bool]
) -> None:
    program = LIMITS.replace("arguments_of(memory_limit)", f"[memory_limit.{step}]")
    assert run_forking(program, cwd=tmp_path) == [fits]


def test_each_cell_has_something_left_to_mend_what_the_last_one_did(tmp_path: Path) -> None:
    program = LIMITS.replace("arguments_of(memory_limit)", "[lambda: None]")
    program = program.replace(
        "report(", "memory_limit.ease(); taken = bytearray(70 << 20); memory_limit.enforce()\nreport("
    )
    program = program.replace("fits(40), fits(60), fits(100)", "fits(2), fits(10)")
    assert run_forking(program, cwd=tmp_path) == [[True, False]]


def test_a_limit_of_the_system_stays_in_force(tmp_path: Path) -> None:
    program = "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20))\n" + LIMITS.replace(
        "arguments_of(memory_limit)", "[memory_limit.enforce, memory_limit.ease, memory_limit.lift]"
    )
    assert [fits[2] for fits in run_forking(program, cwd=tmp_path)] == [False, False, False]
