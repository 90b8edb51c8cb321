import os
from pathlib import Path

import pytest

from pisces.errors import InvalidCall, SettingsError
from pisces.host.homes import Homes
from pisces.host.protocol import Place
from pisces.kernels.base import Ticket
from pisces.sessions.key import SessionKey
from tests.fakes.runtimes import scripted_runtime


def place(cwd: Path, environ: bytes = b"", **settings: object) -> Place:
    return Place(os.fsencode(cwd), environ, {name.replace("__", "."): value for name, value in settings.items()})


async def test_the_first_place_counts_and_each_other_folder_is_told_once(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with scripted_runtime({}, tmp_path) as runtime:
        homes = Homes(runtime)
        home = homes.enter("s", place(tmp_path))
        homes.keep("s", home, ["s"])
        assert homes.enter("s", place(other)) is home
        assert home.visit(place(tmp_path)) is None
        assert str(tmp_path) in (home.visit(place(other)) or "")
        assert home.visit(place(other)) is None
        assert homes.cwd_of("s") == str(tmp_path)


async def test_a_home_is_kept_only_when_there_is_a_session(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        homes = Homes(runtime)
        homes.enter("s", place(tmp_path))
        assert homes.names == []
        homes.keep("s", homes.enter("s", place(tmp_path)), ["s"])
        homes.share("s", "branch")
        assert homes.names == ["s", "branch"]
        homes.leave("s")
        assert homes.names == ["branch"]


async def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        homes = Homes(runtime)
        with pytest.raises(InvalidCall, match="does not exist"):
            homes.enter("s", place(tmp_path / "nowhere"))
        with pytest.raises(InvalidCall, match="per-call"):
            homes.enter("s", place(tmp_path, python__kernelMode="per-call"))
        with pytest.raises(SettingsError, match="sometimes"):
            homes.enter("s", place(tmp_path, b"PI_SET__python__checkpoint=sometimes\0"))
        homes.keep("s", homes.enter("s", place(tmp_path, python__interpreter="/a/python")), ["s"])
        homes.enter("s", place(tmp_path, python__interpreter="/a/python"))
        with pytest.raises(InvalidCall, match="/b/python"):
            homes.enter("s", place(tmp_path, python__interpreter="/b/python"))


async def test_the_homes_of_ended_sessions_are_forgotten_when_they_are_many(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        homes = Homes(runtime)
        home = homes.enter("s", place(tmp_path))
        for number in range(1100):
            homes.keep(f"s{number}", home, ["s0", f"s{number}"])
        assert "s0" in homes.names
        assert "s1" not in homes.names
        assert len(homes.names) <= 1002


async def test_the_kernel_and_the_backend_of_a_session_stay_those_of_its_first_call(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        homes = Homes(runtime)
        homes.keep("s", homes.enter("s", place(tmp_path, python__backend="zmq"), "bash"), ["s"])
        assert homes.enter("s", place(tmp_path)).kernel == "bash"
        assert homes.enter("s", place(tmp_path, python__backend="zmq"), "bash").kernel == "bash"
        with pytest.raises(InvalidCall, match="cannot change to the kernel deno: it was made with bash"):
            homes.enter("s", place(tmp_path), "deno")
        with pytest.raises(InvalidCall, match="cannot change to the backend native: it was made with zmq"):
            homes.enter("s", place(tmp_path, python__backend="native"))
        homes.keep("plain", homes.enter("plain", place(tmp_path)), ["s", "plain"])
        with pytest.raises(InvalidCall, match="it was made without naming a kernel"):
            homes.enter("plain", place(tmp_path), "bash")


async def test_a_session_that_left_its_kernel_elsewhere_has_its_kernelspec_again(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path) as runtime:
        key = SessionKey("s", str(tmp_path), "kernelspec bash", "gateway", "bash")
        runtime.records.keep(key, Ticket("http://127.0.0.1:1", "id", "client", "nonce"))
        assert Homes(runtime).enter("s", place(tmp_path)).kernel == "bash"


async def test_a_lost_session_goes_on_with_what_it_ran_unless_another_is_named(tmp_path: Path) -> None:
    there = tmp_path / "python"
    there.touch(mode=0o755)
    async with scripted_runtime({}, tmp_path) as runtime:
        homes = Homes(runtime)
        ran = SessionKey("s", "/", str(there))
        assert homes.enter("s", place(tmp_path), None, ran).settings == {"python.interpreter": str(there)}
        named = homes.enter("s", place(tmp_path, python__interpreter="/b/python"), None, ran)
        assert named.settings == {"python.interpreter": "/b/python"}
        assert homes.enter("s", place(tmp_path), "ir", ran).kernel == "ir"
        bash = SessionKey("s", "/", "kernelspec bash", "zmq", "bash")
        assert homes.enter("s", place(tmp_path), None, bash).kernel == "bash"
        zmq = homes.enter("s", place(tmp_path), None, SessionKey("s", "/", str(there), "zmq"))
        assert zmq.settings == {"python.interpreter": str(there), "python.backend": "zmq"}
        there.unlink()
        assert homes.enter("s", place(tmp_path), None, ran).settings == {}
