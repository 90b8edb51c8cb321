"""A long random life of several sessions agrees with a model that keeps a plain dict for each."""

import random
import time
from pathlib import Path

import pytest

from pisces import Runtime, ToolResult
from tests.conftest import Soak

pytestmark = [pytest.mark.soak, pytest.mark.processes]

SESSIONS = ("one", "two", "three")


def read(path: str | None) -> str:
    assert path is not None
    return Path(path).read_text(encoding="utf-8")


class Model:
    """What each session should know, step by step."""

    def __init__(self, runtime: Runtime, choices: random.Random) -> None:
        self._runtime = runtime
        self._random = choices
        self._known: dict[str, dict[str, int]] = {name: {} for name in SESSIONS}
        self.steps = 0

    async def step(self) -> None:
        """One random thing in one random session."""
        session = self._random.choice(SESSIONS)
        act = self._random.choice(
            (self.assign, self.assign, self.look, self.look, self.fail, self.crash, self.stall, self.reset, self.flood)
        )
        await act(session)
        self.steps += 1

    async def assign(self, session: str) -> None:
        name, value = self._random.choice("abcdef"), self._random.randrange(1000)
        result = await self._run(session, f"{name} = {value}")
        assert result.details.outcome == "ok"
        self._known[session][name] = value

    async def look(self, session: str) -> None:
        result = await self._run(session, "print({n: v for n, v in globals().items() if n in 'abcdef'})")
        assert result.text == str(self._known[session]), result.text

    async def fail(self, session: str) -> None:
        result = await self._run(session, "a = 5; raise ValueError('on purpose')")
        assert result.details.outcome == "error"
        assert result.details.kernel.state == "kept"
        self._known[session]["a"] = 5

    async def crash(self, session: str) -> None:
        await self._run(session, "0")  # A kernel that finishes a cell in between may crash as often as it likes.
        end = self._random.choice(("os._exit(7)", "os.kill(os.getpid(), 9)", "os.abort()"))
        result = await self._run(session, f"import os; {end}")
        assert (result.details.outcome, result.details.kernel.state) == ("crashed", "lost")
        self._known[session].clear()

    async def stall(self, session: str) -> None:
        result = await self._run(session, "import time\nwhile True: time.sleep(0.01)", timeout=1)
        assert (result.details.outcome, result.details.kernel.state) == ("timeout", "kept")

    async def reset(self, session: str) -> None:
        self._known[session].clear()
        result = await self._runtime.python(code="0", session=session, reset=True)
        assert result.details.outcome == "ok"

    async def flood(self, session: str) -> None:
        lines = self._random.randrange(1, 60_000)
        result = await self._run(session, f"for n in range({lines}): print(n)")
        if result.details.truncation is None:
            assert len(result.text.splitlines()) == lines
        else:
            assert read(result.details.full_output_path) == "".join(f"{n}\n" for n in range(lines))

    async def _run(self, session: str, code: str, timeout: float = 30) -> ToolResult:  # noqa: ASYNC109 - the tool's name
        return await self._runtime.python(code=code, session=session, timeout=timeout)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("shell", ["plain_python", "ipython_python"])
async def test_sessions_know_what_they_were_told(shell: str, soak: Soak, request: pytest.FixtureRequest) -> None:
    interpreter = str(request.getfixturevalue(shell))
    end = time.monotonic() + soak.seconds
    async with Runtime(settings={"python.interpreter": interpreter}) as runtime:
        model = Model(runtime, soak.random())
        while time.monotonic() < end:
            await model.step()
    assert model.steps > 0
