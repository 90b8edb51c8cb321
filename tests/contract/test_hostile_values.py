"""Looking at what a cell left never ends the kernel, whatever objects do when they are looked at."""

import pytest

from pisces.kernels.base import Completing, Inspecting, Kernel
from pisces.kernels.deadline import Deadline
from tests.fakes.drive import PATIENCE, ok, run, value

pytestmark = pytest.mark.needs_shell

ERRORS = """
class Own(BaseException): pass
errors = {'exits': SystemExit, 'interrupts': KeyboardInterrupt, 'ends': GeneratorExit, 'own': Own, 'plain': ValueError}
"""
HOSTILE = {
    "shape": "class Odd:\n        @property\n        def shape(self): raise error",
    "length": "class Odd(list):\n        def __len__(self): raise error",
    "class": "class Odd:\n        __class__ = property(lambda self: (_ for _ in ()).throw(error))\n        shape = 1",
    "any name": "class Odd:\n        shape = (1,)\n        def __getattribute__(self, name): raise error",
    "names": "class Odd:\n        def __dir__(self): raise error",
    "name of the type": (
        "class Meta(type):\n        __name__ = property(lambda cls: (_ for _ in ()).throw(error))\n"
        "    class Odd(metaclass=Meta): pass"
    ),
    "equality of the type": (
        "class Meta(type):\n        def __eq__(cls, other): raise error\n    class Odd(metaclass=Meta): pass"
    ),
    "pickling": "class Odd:\n        def __reduce_ex__(self, protocol): raise error",
}


def soon() -> Deadline:
    return Deadline.after(PATIENCE)


@pytest.mark.parametrize("what", HOSTILE)
async def test_an_object_may_raise_anything_when_it_is_looked_at(fresh: Kernel, what: str) -> None:
    assert isinstance(fresh, Inspecting)
    assert isinstance(fresh, Completing)
    await ok(fresh, ERRORS)
    made = f"def make(error):\n    {HOSTILE[what]}\n    return Odd()\n"
    ran = await ok(fresh, f"{made}for name in errors: globals()[name] = make(errors[name])", inspect=True)
    assert ran.done.variables is not None
    assert {"exits", "interrupts", "ends", "own", "plain"} <= {one.name for one in ran.done.variables.added}
    assert "exits" in {one.name for one in await fresh.variables(soon())}
    await fresh.complete("exits.", 6, soon())
    if fresh.backend == "native":  # ipykernel does not survive some of these when it shows them itself.
        for name in ("exits", "interrupts", "ends", "own", "plain"):
            assert (await run(fresh, name, inspect=True)).done.state == "kept"
            assert (await run(fresh, f"display([{name}])", inspect=True)).done.state == "kept"
    assert await value(fresh, "1 + 1") == "2"


async def test_a_name_may_raise_anything_when_it_is_looked_up(fresh: Kernel) -> None:
    await ok(fresh, "kept = 42", inspect=True)
    odd = "class Odd(str):\n    calls = 0\n    def __hash__(self):\n        Odd.calls += 1\n"
    odd += "        if Odd.calls > 1: raise SystemExit\n        return 7\n"
    await ok(fresh, f"{odd}globals()[Odd('odd')] = 3", inspect=True)
    ran = await ok(fresh, "new = 1", inspect=True)
    assert ran.done.variables is not None
    assert {one.name for one in ran.done.variables.added} == {"new"}
    assert await value(fresh, "kept") == "42"


async def test_a_value_may_take_for_ever_to_tell_its_size(fresh: Kernel) -> None:
    """The cell is over by then: nobody could interrupt it, and its kernel would be killed with its timeout."""
    code = (
        "class Odd:\n    @property\n    def shape(self):\n        while True: pass\nodd, others = Odd(), [Odd(), Odd()]"
    )
    await ok(fresh, code, inspect=True)
    for number in range(3):
        ran = await ok(fresh, f"another{number} = Odd()", inspect=True)
        assert ran.done.variables is not None
        assert [(one.name, one.size) for one in ran.done.variables.added] == [(f"another{number}", "")]
    assert isinstance(fresh, Inspecting)
    assert "odd" in {one.name for one in await fresh.variables(soon())}


@pytest.mark.parametrize("raises", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "ValueError"])
async def test_an_exception_may_raise_anything_when_it_is_put_into_words(fresh: Kernel, raises: str) -> None:
    code = f"class Odd(Exception):\n    def __str__(self): raise {raises}\n    __repr__ = __str__\nraise Odd"
    ran = await run(fresh, code)
    assert (ran.done.status != "ok", ran.done.state) == (True, "kept"), ran.explained
    assert await value(fresh, "1 + 1") == "2"


@pytest.mark.needs_own_shell
@pytest.mark.parametrize(
    "code",
    [
        "import sys\ndel sys.modules['__main__']",
        "__package__ = 5\ndef fail(): 1 / 0\nfail()",
        "__package__ = None\nimport sys\nsys.stdout = sys.stderr = None",
        "import sys\ndel sys.stdout, sys.stderr",
    ],
)
async def test_the_next_cell_runs_after_one_that_broke_the_module_or_the_streams(fresh: Kernel, code: str) -> None:
    assert isinstance(fresh, Completing)
    await run(fresh, code, inspect=True)
    await fresh.complete("fai", 3, soon())
    ran = await run(fresh, "1 / 0")
    assert (ran.done.status, ran.done.state) == ("error", "kept"), ran.explained
    await ok(fresh, "x = 1 + 1", inspect=True)
    assert isinstance(fresh, Inspecting)
    assert "x" in {one.name for one in await fresh.variables(soon())}
