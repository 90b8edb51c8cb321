"""Variables come into a fresh kernel by value, each as it was; what cannot come is named and costs nothing else."""

from pathlib import Path

import pytest

from tests.environments import interpreter_of
from tests.unit.guest.forked_process import run_forking, saved_and_loaded

pytestmark = pytest.mark.processes

PLAIN = ["cloudpickle"]


@pytest.fixture(scope="module")
def data_python() -> str:
    """An interpreter with numpy."""
    return interpreter_of("data")


def test_variables_that_are_one_object_still_are(tmp_path: Path) -> None:
    cells = "a = []; b = a; holder = {'a': a}\nfirst = [[1]]; second = [first[0]]"
    check = "same = a is b is holder['a']\ncommon = first[0] is second[0]"
    result = saved_and_loaded(cells, check, cwd=tmp_path, without=PLAIN)
    assert result == {"missing": [], "same": True, "common": True}


def test_variables_that_refer_to_each_other_still_do(tmp_path: Path) -> None:
    cells = "left = []; right = [left]; left.append(right)"
    result = saved_and_loaded(cells, "both = left[0] is right and right[0] is left", cwd=tmp_path, without=PLAIN)
    assert result == {"missing": [], "both": True}


def test_functions_see_the_new_namespace_and_private_helpers(tmp_path: Path) -> None:
    cells = "k = 10\ndef _helper(): return 1\ndef add(x, *, more=2): return x + k + more + _helper()\nadd.note = 'n'"
    check = "before = add(1)\nglobals()['k'] = 100\nafter = add(1)\nnote = add.note\nname = add.__qualname__"
    result = saved_and_loaded(cells, check, cwd=tmp_path, without=PLAIN)
    assert result == {"missing": [], "before": 14, "after": 104, "note": "n", "name": "add"}


def test_closures_that_share_a_variable_still_share_it(tmp_path: Path) -> None:
    cells = """
def make():
    n = 0
    def step():
        nonlocal n
        n += 1
    return step, lambda: n
step, count = make()
step()
def make_factorial():
    def inner(n): return 1 if n == 0 else n * inner(n - 1)
    return inner
factorial = make_factorial()
"""
    check = "step()\nn = count()\nf = factorial(4)"
    assert saved_and_loaded(cells, check, cwd=tmp_path, without=PLAIN) == {"missing": [], "n": 2, "f": 24}


CLASSES = """
import abc, collections, dataclasses, enum, functools, typing
class Base:
    def __init__(self, v): self.v = v
    def get(self): return self.v
    @property
    def twice(self): return 2 * self.v
    @classmethod
    def make(cls): return cls(7)
class Child(Base):
    def get(self): return super().get() + 1
child = Child(3)
class Color(enum.Enum):
    RED = 1
    def nice(self): return self.name.lower()
red = Color.RED
@dataclasses.dataclass
class Item:
    x: int
    tags: list = dataclasses.field(default_factory=list)
item = Item(1)
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
class Square(Shape):
    def area(self): return 4
square = Square()
Point = collections.namedtuple("Point", "x y"); point = Point(1, 2)
class Row(typing.NamedTuple):
    a: int
    b: str = "b"
row = Row(1)
T = typing.TypeVar("T")
class Box(typing.Generic[T]): pass
class Slotted: __slots__ = ("z",)
slotted = Slotted(); slotted.z = 4
@functools.lru_cache(maxsize=5)
def cached(n): return n + 1
"""
CLASS_CHECKS = """
import dataclasses
kinds = type(child) is Child and type(item) is Item and type(point) is Point and type(square) is Square
parent = child.get() == 4 and child.twice == 6 and Child.make().v == 7
enumeration = red is Color.RED and red.nice() == "red"
fields = dataclasses.replace(item, x=5) == Item(5) and Item(1).tags is not item.tags
named = (point.y, row.b, Point(3, 4).x) == (2, "b", 3)
rest = slotted.z == 4 and square.area() == 4 and Box[int] is not None and cached(1) == 2
try:
    Shape()
except TypeError:
    abstract = True
"""


def test_classes_of_the_session_come_with_their_instances(tmp_path: Path) -> None:
    result = saved_and_loaded(CLASSES, CLASS_CHECKS, cwd=tmp_path, without=PLAIN)
    assert result.pop("missing") == []
    assert result == dict.fromkeys(("kinds", "parent", "enumeration", "fields", "named", "rest", "abstract"), True)


def test_a_variable_that_cannot_be_saved_costs_no_other(tmp_path: Path) -> None:
    cells = """
import socket
class Bad:
    def __reduce__(self): raise ValueError("no way")
bad = Bad()
uses_bad = [bad]
class Picky:
    def __eq__(self, other): raise RuntimeError("not comparable")
    __hash__ = None
picky = Picky()
sock = socket.socket()
generator = (x for x in [1])
name = "name"
"""
    result = saved_and_loaded(cells, "there = name == 'name' and type(picky) is Picky", cwd=tmp_path, without=PLAIN)
    assert result["there"] is True
    assert result["missing"] == [
        "bad (ValueError: no way)",
        "uses_bad (it refers to bad, which is not back)",
        "sock (TypeError: cannot pickle 'socket' object)",
        "generator (TypeError: cannot pickle 'generator' object)",
    ]


def test_a_variable_that_cannot_be_loaded_costs_no_other(tmp_path: Path) -> None:
    cells = """
class Bad:
    def __init__(self): self.name = [1]
    def __setstate__(self, state): raise ValueError("not this")
bad = Bad()
shares = [bad.name]
class Good:
    def __init__(self): self.name = 2
good = Good()
"""
    result = saved_and_loaded(cells, "there = (shares, good.name) == ([[1]], 2)", cwd=tmp_path, without=PLAIN)
    assert result == {"missing": ["bad (ValueError: not this)"], "there": True}


def test_variables_whose_common_part_is_too_large_for_both_have_copies_and_that_is_said(tmp_path: Path) -> None:
    cells = "part = [b'x' * 600_000]\na = [part, b'y' * 300_000]\nb = [part, b'z' * 300_000]\ndel part"
    result = saved_and_loaded(cells, "equal = a[0] == b[0]", cwd=tmp_path, without=PLAIN, bytes_each=1_000_000)
    assert result == {"missing": ["what a, b had in common (each has a copy of its own now)"], "equal": True}


def test_a_slow_and_a_large_variable_are_left_behind(tmp_path: Path) -> None:
    cells = """
class Slow:
    def __reduce__(self):
        while True:
            try:
                while True: pass
            except Exception:
                pass
slow = Slow()
large = [b"x" * 100_000 for _ in range(30)]
last = 1
"""
    result = saved_and_loaded(cells, "there = last", cwd=tmp_path, without=PLAIN, seconds_each=0.2, bytes_each=1 << 20)
    assert result["there"] == 1
    assert result["missing"] == [
        "slow (it took more than 0.2 s)",
        "large (it is larger than the 1 MB that were left for it)",
    ]


def test_what_was_saved_before_a_kill_is_loaded(tmp_path: Path) -> None:
    cells = """
import os, signal
first = {"a": 1}
class Deadly:
    def __reduce__(self): os.kill(os.getpid(), signal.SIGKILL)
deadly = Deadly()
never = 2
"""
    result = saved_and_loaded(cells, "there = first['a']", cwd=tmp_path, without=PLAIN)
    assert result["there"] == 1
    assert result["missing"] == [
        "deadly (saving it did not come to an end)",
        "never (saving did not come to it)",
    ]


def test_the_process_is_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "mine.py").write_text("class Thing:\n    value = 6\n", encoding="utf-8")
    cells = f"""
import os, random, sys
os.chdir({str(folder)!r})
sys.path.insert(0, {str(folder)!r})
os.environ["ADDED"] = "yes"
os.environ["PI_KERNEL_COOKIE"] = "old"
import mine
thing = mine.Thing()
random.seed(5)
state = random.getstate()
expected = random.random()
random.setstate(state)
"""
    check = """
import os, random
folder = os.path.basename(os.getcwd())
added = os.environ["ADDED"]
cookie = os.environ.get("PI_KERNEL_COOKIE", "")
number = random.random() == expected
value = thing.value
"""
    result = saved_and_loaded(cells, check, cwd=tmp_path, without=PLAIN)
    assert result == {
        "missing": [],
        "folder": "elsewhere",
        "added": "yes",
        "cookie": "new",
        "number": True,
        "value": 6,
    }


OWN_VARIABLES = """
from _pisces_guest import by_value_state, kernel
kernel.own_variables.add("PI_SESSION_FILE")
os.environ.update(MINE="kept", PI_SESSION_FILE="of the origin")
saved = by_value_state.save_state()
os.environ.update(MINE="", PI_SESSION_FILE="of the branch")
report([by_value_state.load_state(saved), os.environ["MINE"], os.environ["PI_SESSION_FILE"]])
"""


def test_a_kernel_keeps_the_variables_that_tell_it_who_it_is(tmp_path: Path) -> None:
    assert run_forking(OWN_VARIABLES, cwd=tmp_path) == [[], "kept", "of the branch"]


def test_a_file_is_opened_again_where_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\ntwo\n", encoding="utf-8")
    cells = """
lines = open("lines", encoding="utf-8")
lines.readline()
out = open("out", "w", encoding="utf-8")
import threading
lock = threading.Lock()
lock.acquire()
thread = threading.Thread()
"""
    check = "line = lines.readline()\nheld = lock.locked()\nlines.close()"
    result = saved_and_loaded(cells, check, cwd=tmp_path, without=PLAIN)
    assert (result["line"], result["held"]) == ("two\n", False)
    assert result["missing"] == [
        "out (only a file that is open for reading can be opened again)",
        "lock (back without who held its lock: it is free now)",
        "thread (a thread belongs to the process that started it)",
    ]


@pytest.mark.parametrize("error", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "Own"])
def test_objects_that_raise_anything_cost_only_themselves(tmp_path: Path, error: str) -> None:
    cells = f"""
class Own(BaseException): pass
class Refuses:
    def __reduce_ex__(self, protocol): raise {error}
class Returns:
    def __getstate__(self): return 1
    def __setstate__(self, state): raise {error}
class Hashed:
    def __init__(self): self.n = 1
    def __hash__(self): raise {error}
class Meta(type):
    def __eq__(cls, other): raise {error}
    __hash__ = type.__hash__
class Compared(metaclass=Meta): pass
refuses, returns, hashed, compared, kept = Refuses(), Returns(), [Hashed()], Compared(), [1]
"""
    result = saved_and_loaded(cells, "found = [kept, hashed[0].n]", cwd=tmp_path, without=PLAIN)
    assert result["found"] == [[1], 1]
    assert {entry.partition(" ")[0] for entry in result["missing"]} >= {"refuses", "returns"}


def test_what_a_fresh_import_does_not_have_is_named(tmp_path: Path) -> None:
    module = tmp_path / "mine.py"
    module.write_text("count = 0\nsame = [1]\ndef f(): return 1\ndef g(): return 1\n", encoding="utf-8")
    cells = f"""
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(tmp_path)!r})
import mine
mine.count = 5
with open(mine.__file__, "w", encoding="utf-8") as file:
    file.write("count = 0\\nsame = [1]\\ndef f(): return 2\\ndef g(): return 1\\n")
used = mine.f
del file
"""
    result = saved_and_loaded(cells, "new = used()", cwd=tmp_path, prepare="del sys.modules['mine']")
    changed = "what was changed in modules (as a new import has them: mine.count, mine.f)"
    assert result == {"missing": [changed], "new": 2}


def test_a_setting_that_cannot_come_is_named(tmp_path: Path) -> None:
    cells = """
import logging, socket
class Sends(logging.Handler):
    def __init__(self):
        super().__init__()
        self.socket = socket.socket()
logging.getLogger("mine").addHandler(Sends())
"""
    result = saved_and_loaded(
        cells, "", cwd=tmp_path, prepare="sys.modules['logging'].getLogger('mine').handlers.clear()"
    )
    assert result["missing"] == ["the logger 'mine' (TypeError: cannot pickle 'socket' object)"]


def test_what_a_library_does_with_a_subclass_is_done_again(tmp_path: Path) -> None:
    library = "known = []\nclass Base:\n    def __init_subclass__(cls): known.append(cls.__name__)\n"
    (tmp_path / "library.py").write_text(library, encoding="utf-8")
    cells = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport library\nclass Mine(library.Base): pass"
    result = saved_and_loaded(cells, "known = library.known", cwd=tmp_path, prepare="del sys.modules['library']")
    assert result == {"missing": [], "known": ["Mine"]}


def test_the_rest_of_an_array_that_nobody_else_has_is_left_behind(tmp_path: Path, data_python: str) -> None:
    cells = "import numpy\npart = numpy.zeros(10_000_000)[:3]\nwhole = numpy.zeros(10)\nview = whole[1:]"
    check = "alone = part.base is None\nshared = view.base is whole"
    result = saved_and_loaded(cells, check, cwd=tmp_path, interpreter=data_python, bytes_each=1_000_000)
    assert result == {"missing": [], "alone": True, "shared": True}
