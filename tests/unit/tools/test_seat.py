"""Where the kernel of a call comes from."""

from pathlib import Path

import pytest

from pisces.errors import InvalidCall
from pisces.kernels.deadline import Deadline
from pisces.runtime import Runtime
from pisces.sessions.stop import StopSignal
from pisces.tools.seat import Seat, find_seat, is_interpreter

URL = "http://127.0.0.1:9"


async def seat_of(folder: Path, kernel: str | None = None, **environ: str) -> Seat:
    async with Runtime(cwd=folder, environ={"PI_PYTHON_GATEWAY_URL": URL, "HOME": str(folder), **environ}) as runtime:
        deadline = Deadline.after(30)
        seat = await find_seat(runtime._entered(), kernel, StopSignal(deadline), deadline)
    assert seat is not None
    return seat


@pytest.mark.parametrize("name", ["python3", "python", "python3.12", "pypy3", "/opt/py", "~/py", "./x", "PYTHON3"])
def test_what_is_meant_as_an_interpreter(name: str) -> None:
    assert is_interpreter(name)


@pytest.mark.parametrize("name", ["bash", "deno", "ir", "pythonic", "xpython", "julia-1.10"])
def test_what_is_meant_as_a_kernelspec(name: str) -> None:
    assert not is_interpreter(name)


async def test_an_external_gateway_gets_nothing_of_the_environment_but_wishes_for_a_kernel(tmp_path: Path) -> None:
    given = {"PATH": "/bin", "KERNEL_MEMORY": "4g", "KERNEL_HUB_TOKEN": "secret", "DATABASE_URL": "x"}
    seat = await seat_of(tmp_path, **given)
    assert seat.spec.env == {"KERNEL_MEMORY": "4g"}
    assert (seat.choice.name, seat.label) == ("external", URL)


async def test_an_external_gateway_has_no_interpreter_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match="/usr/bin/python3"):
        await seat_of(tmp_path, "/usr/bin/python3")
    assert (await seat_of(tmp_path, "python3")).spec.kernelspec == "python3"


async def test_the_same_name_on_another_backend_is_another_session(tmp_path: Path) -> None:
    elsewhere = await seat_of(tmp_path)
    native = await seat_of(tmp_path, PI_SET__python__backend="native", PATH="/usr/local/bin:/usr/bin:/bin")
    assert elsewhere.key("s", "/") != native.key("s", "/")
    assert native.choice.name == "native"
