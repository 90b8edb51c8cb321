"""Objects that refer to each other and share memory in any way do so in the same way after a restore by value."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.environments import interpreter_of
from tests.unit.guest.forked_process import LOAD_GUEST
from tests.unit.guest.guest_process import GUEST

pytestmark = pytest.mark.processes

CELLS = """
import collections, enum, functools, types, weakref
try:
    import numpy
except ImportError:
    numpy = None

class Plain: pass
class Slotted:
    __slots__ = ("children", "__weakref__")
class Keyed:
    def __init__(self, key): self.key = key
    def __eq__(self, other): return type(other) is Keyed and other.key == self.key
    def __hash__(self): return hash(self.key)
class Grows(list): pass
class Color(enum.Enum):
    RED = 1
    def __str__(self): return "red"

def function_over(children):
    def inner(default=children, *, named={}): return children
    return inner
def pair_over(children):
    def get(): return children
    def put(value):
        nonlocal children
        children = value
    return types.SimpleNamespace(children=children, get=get, put=put)
def made_class(children, base):
    return type("Made", (base,), {"children": children, "method": lambda self: __class__})

def build(nodes, variables):
    "The objects of a description: nodes are made with what comes before them, and filled with whatever they refer to."
    made = []
    for kind, before, _ in nodes:
        children = []
        earlier = [made[number % len(made)] for number in before] if made else []
        made.append(MAKERS[kind](children, earlier))
        HELD[id(made[-1])] = (made[-1], children)
    for (kind, _, after), value in zip(nodes, made):
        HELD[id(value)][1].extend(made[number % len(made)] for number in after)
    chosen = {f"v{place}": made[number % len(made)] for place, number in enumerate(variables)}
    HELD.clear()
    return chosen

def with_children(value, children):
    value.children = children
    return value

def array_over(earlier, place):
    owners = [value for value in earlier if type(value) is numpy.ndarray or type(value) is bytearray]
    if not owners:
        return numpy.arange(24.0)
    owner = owners[0]
    if type(owner) is bytearray:
        return numpy.frombuffer(owner, numpy.uint8)
    return [lambda: owner[1:], lambda: owner[::-1], lambda: owner[::2], lambda: owner[:, None][..., 0],
            lambda: owner.view(numpy.uint8)[:24] if owner.flags.c_contiguous else owner[:1]][place]()

HELD = {}
MAKERS = {
    "list": lambda children, earlier: children,
    "grows": lambda children, earlier: with_children(Grows(), children),
    "dict": lambda children, earlier: {"children": children, **{str(n): value for n, value in enumerate(earlier)}},
    "tuple": lambda children, earlier: (children, *earlier),
    "plain": lambda children, earlier: with_children(Plain(), children),
    "slotted": lambda children, earlier: with_children(Slotted(), children),
    "keyed": lambda children, earlier: with_children(Keyed(len(earlier)), children),
    "function": lambda children, earlier: function_over(children),
    "pair": lambda children, earlier: pair_over(children),
    "class": lambda children, earlier: made_class(
        children, next((value for value in earlier if isinstance(value, type) and len(value.__mro__) < 6), object)),
    "partial": lambda children, earlier: functools.partial(function_over(children), *earlier),
    "method": lambda children, earlier: types.MethodType(function_over(children), children),
    "deque": lambda children, earlier: collections.deque([children, *earlier], maxlen=9),
    "default": lambda children, earlier: collections.defaultdict(function_over(children), a=earlier),
    "error": lambda children, earlier: with_cause(ValueError(children), earlier),
    "proxy": lambda children, earlier: types.MappingProxyType({"children": children}),
    "keys": lambda children, earlier: ({"children": children}, {"children": children}.keys()),
    "set": lambda children, earlier: {value for value in earlier if type(value) is Keyed} | {Color.RED},
    "iterator": lambda children, earlier: iter([children, *earlier]),
    "reference": lambda children, earlier: referring(children, earlier),
    "bytes": lambda children, earlier: bytearray(b"some bytes of memory"),
    "array": lambda children, earlier: array_over(earlier, 0),
    "reversed": lambda children, earlier: array_over(earlier, 1),
    "strided": lambda children, earlier: array_over(earlier, 2),
    "shaped": lambda children, earlier: array_over(earlier, 3),
    "raw": lambda children, earlier: array_over(earlier, 4),
    "enum": lambda children, earlier: Color.RED,
}
def with_cause(error, earlier):
    error.__cause__ = next((value for value in earlier if isinstance(value, BaseException)), None)
    return error
def referring(children, earlier):
    target = Plain()
    children.append(target)
    return [weakref.ref(target), target, children]
"""
"""Cells of a session: its classes and functions, and what makes objects of a description."""

DESCRIBE = """
def describe(variables):
    "The same for two sets of variables, exactly if one could not be told from the other."
    numbers, shown, memory = {}, [], []
    def see(value):
        kind = type(value)
        if value is None or kind in (bool, int, float, str, bytes):
            return value
        if kind is tuple:
            return ["tuple", *map(see, value)]
        if id(value) in numbers:
            return ["see", numbers[id(value)][0]]
        number = len(numbers)
        numbers[id(value)] = (number, value)  # Held: its id is not to be another's.
        place = len(shown)
        shown.append(None)
        shown[place] = [number, kind.__name__, *parts(value, kind)]
        return ["see", number]
    def parts(value, kind):
        name = kind.__name__
        if kind in (list, collections.deque):
            return [see(one) for one in value]
        if kind is Grows:
            return [see(list(value)), see(value.children)]
        if kind in (dict, collections.defaultdict):
            return [[key, see(one)] for key, one in value.items()] + [see(getattr(value, "default_factory", None))]
        if name == "mappingproxy":
            return [[key, see(one)] for key, one in value.items()]
        if name == "dict_keys":
            return [see(one) for one in value]
        if kind is set:
            return sorted(repr(getattr(one, "key", one)) + repr(see(one) if type(one) is Color else 0) for one in value)
        if kind in (Plain, Slotted, types.SimpleNamespace):
            names = [name for name in ("children", "get", "put") if hasattr(value, name)]
            return [see(getattr(value, name)) for name in names]
        if kind is Keyed:
            return [value.key, see(value.children)]
        if kind is Color:
            return [str(value), value is globals()["Color"].RED]
        if name == "function":
            cells = [see(cell) for cell in value.__closure__ or ()]
            shared = value.__globals__ is globals()
            return [shared, see(value.__defaults__), see(value.__kwdefaults__), cells]
        if name == "cell":
            return [see(value.cell_contents)]
        if name == "method":
            return [see(value.__func__), see(value.__self__)]
        if name == "partial":
            return [see(value.func), see(value.args)]
        if isinstance(value, type):
            return [value.__name__, *[see(base) if base is not object else 0 for base in value.__bases__],
                    see(vars(value).get("children")), see(vars(value).get("method"))]
        if isinstance(value, BaseException):
            return [see(value.args), see(value.__cause__)]
        if name == "list_iterator":
            return [see(value.__reduce__()[1][0])]
        if name == "ReferenceType":
            return [see(value())]
        if kind is bytearray:
            start = numpy.frombuffer(value, numpy.uint8).__array_interface__["data"][0] if numpy else 0
            memory.append((start, start + len(value), [numbers[id(value)][0]]))
            return [bytes(value).decode()]
        if name == "ndarray":
            low, high = numpy.lib.array_utils.byte_bounds(value)
            memory.append((low, high, [numbers[id(value)][0], *value.strides]))
            return [str(value.dtype), list(value.shape), value.tolist(), value.flags.writeable]
        return ["?", name]
    roots = [[name, see(value)] for name, value in sorted(variables.items())]
    blocks, end = [], -1
    for low, high, number in sorted(memory):
        if low >= end:
            blocks.append([])
            first = low
        blocks[-1].append([*number, low - first])
        end = max(end, high)
    return [roots, shown, sorted(sorted(block) for block in blocks if len(block) > 1)]
"""

WORKER = (
    LOAD_GUEST
    + """
from _pisces_guest import by_value
(cells, describe), = [arguments]
def fresh_main():
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    return main.__dict__
def passed_on(nodes, variables):
    namespace = fresh_main()
    exec(cells, namespace)
    made = namespace["build"](nodes, variables)
    namespace.update(made)
    exec(describe, namespace)
    describe_before = namespace["describe"]
    file = os.memfd_create("saved")
    by_value.save(namespace, {"__builtins__"}, file)
    os.lseek(file, 0, os.SEEK_SET)
    namespace = fresh_main()
    missing = by_value.load(namespace, file)
    os.close(file)
    back = [name for name in made if name in namespace]
    before = describe_before({name: made[name] for name in back})
    after = namespace["describe"]({name: namespace[name] for name in back})
    named = {entry.partition(" ")[0] for entry in missing}
    return {"before": before, "after": after, "unnamed": sorted(set(made) - set(back) - named), "missing": missing}
for line in sys.stdin:
    report(passed_on(*json.loads(line)))
"""
)

KINDS = [
    "list",
    "grows",
    "dict",
    "tuple",
    "plain",
    "slotted",
    "keyed",
    "function",
    "pair",
    "class",
    "partial",
    "method",
]
KINDS += ["deque", "default", "error", "proxy", "keys", "set", "iterator", "reference", "enum"]
MEMORY = ["bytes", "array", "reversed", "strided", "shaped", "raw"]
NUMBERS = st.lists(st.integers(0, 30), max_size=4)
VARIABLES = st.lists(st.integers(0, 30), min_size=1, max_size=6)


def nodes_of(kinds: list[str]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(st.sampled_from(kinds), NUMBERS, NUMBERS), min_size=1, max_size=14)


class Worker:
    """A process that saves and loads one graph after the other."""

    def __init__(self, interpreter: str) -> None:
        command = [interpreter, "-c", WORKER, json.dumps([str(GUEST), [CELLS, DESCRIBE]])]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def passed_on(self, nodes: list[Any], variables: list[int]) -> dict[str, Any]:
        """What the objects were before and after, and what is missing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([nodes, variables]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer.startswith("report:"), (answer, nodes, variables)
        result: dict[str, Any] = json.loads(answer.removeprefix("report:"))
        return result

    def close(self) -> None:
        self._process.communicate(timeout=30)


@pytest.fixture
def plain_worker(plain_python: str) -> Iterator[Worker]:
    worker = Worker(plain_python)
    yield worker
    worker.close()


@pytest.fixture
def data_worker() -> Iterator[Worker]:
    worker = Worker(interpreter_of("data"))
    yield worker
    worker.close()


ONE_WORKER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@ONE_WORKER
@given(nodes=nodes_of(KINDS), variables=VARIABLES)
def test_any_graph_of_objects_comes_back_as_it_was(
    plain_worker: Worker, nodes: list[Any], variables: list[int]
) -> None:
    result = plain_worker.passed_on(nodes, variables)
    # A set cannot be filled with what has no hash yet, because it has the set as a part: no pickle can do that.
    assert all("object has no attribute 'key'" in entry or "which is not back" in entry for entry in result["missing"])
    assert result["unnamed"] == []
    assert result["after"] == result["before"]


@ONE_WORKER
@given(nodes=nodes_of([*MEMORY, "list", "plain", "dict", "function"]), variables=VARIABLES)
def test_memory_that_objects_share_in_any_way_is_shared_in_the_same_way(
    data_worker: Worker, nodes: list[Any], variables: list[int]
) -> None:
    result = data_worker.passed_on(nodes, variables)
    assert result["missing"] == []
    assert result["after"] == result["before"]
