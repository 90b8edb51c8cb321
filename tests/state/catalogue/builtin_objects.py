"""Objects of the language itself."""

from tests.state.catalogue.entry import Entry, Library

SETUP = """
import sys, types, weakref

class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.counted = len(args)
        return made

class Point(metaclass=Meta):
    def __init__(self, a, b):
        self.a, self.b = a, b
    def total(self):
        return self.a + self.b

class Slotted:
    __slots__ = ("a", "__weakref__")
    def __init__(self, a):
        self.a = a

def counting(start):
    while True:
        start = start + 1
        yield start

async def answering(value):
    return value * 2

async def counting_slowly():
    for number in range(100):
        yield number

def finish(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value

def accumulator():
    total = 0
    def add(amount):
        nonlocal total
        total += amount
        return total
    return add

def failing():
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("wrong") from error
"""

LANGUAGE = Library(
    "the language",
    setup=SETUP,
    entries=(
        Entry("int (long)", "x = 3 ** 5000", "x % 10**9 + x.bit_length()"),
        Entry("float", "x = [float('nan'), float('inf'), -0.0, 0.1]", "[value.hex() for value in x]"),
        Entry("complex", "x = 3 + 4j", "abs(x)"),
        Entry("str", "x = 'Käse \\ud800 🧀'", "[ord(character) for character in x]"),
        Entry("bytes", "x = bytes(range(256))", "sum(x)"),
        Entry("bytearray", "x = bytearray(b'abc')", "x.extend(b'd') or bytes(x)"),
        Entry("memoryview", "x = memoryview(bytearray(range(16)))[4:12]", "x.tolist()"),
        Entry("list (in itself)", "x = [1, 2]; x.append(x)", "x[2][2] is x and len(x)"),
        Entry("tuple", "x = (1, ('a', None))", "hash(x[0]) + len(x[1])"),
        Entry("dict", "x = {key: key * 2 for key in 'zyx'}", "list(x.items())"),
        Entry("dict view", "x = {'a': 1, 'b': 2}.items()", "sorted(x)"),
        Entry("set", "x = {1, 2, 3}", "x.add(len(x)) or sorted(x)"),
        Entry("frozenset", "x = frozenset('hello')", "sorted(x)"),
        Entry("range", "x = range(0, 10**12, 7)", "x[10**9]"),
        Entry("iterator (begun)", "x = iter([1, 2, 3, 4]); next(x)", "next(x)"),
        Entry("zip (begun)", "x = zip('abcd', counting(0)); next(x)", "next(x)"),
        Entry("function", "def x(a, *, b=2): return a * b", "x(21) + x.__kwdefaults__['b']"),
        Entry(
            "function (recursive)", "def factorial(n): return n * factorial(n - 1) if n else 1\nx = factorial", "x(9)"
        ),
        Entry("closure", "x = accumulator(); x(5)", "x(1)"),
        Entry("generator (begun)", "x = counting(10); next(x)", "next(x)"),
        Entry("coroutine (not begun)", "x = [answering(n) for n in range(3)]", "finish(x.pop())"),
        Entry("async generator (begun)", "x = counting_slowly(); finish(x.asend(None))", "finish(x.asend(None))"),
        Entry("class", "class x(Point):\n    kind = 'sub'", "(x(1, 2).total(), x.kind, x.__mro__[1].__name__)"),
        Entry("class with a metaclass", "x = Point", "(type(x).__name__, x(1, 2).counted)"),
        Entry("instance", "x = Point(1, 2)", "x.total()"),
        Entry("instance with slots", "x = Slotted([1])", "x.a.append(2) or len(x.a)"),
        Entry("bound method", "x = Point(3, 4).total", "x() + x.__self__.a"),
        Entry("built-in method", "x = [1].append", "x(2) or x.__self__"),
        Entry("property", "x = property(lambda self: self.a * 2)", "x.__get__(Slotted(4))"),
        Entry(
            "exception with its traceback",
            "try:\n    failing()\nexcept ValueError as error:\n    x = error",
            "(x.args, type(x.__cause__).__name__, x.__traceback__.tb_next.tb_frame.f_code.co_name)",
        ),
        Entry("exception group", "x = ExceptionGroup('both', [ValueError(1), KeyError(2)])", "len(x.exceptions)"),
        Entry("code object", "x = compile('6 * 7', 'cell', 'eval')", "eval(x)"),
        Entry("module made by hand", "x = types.ModuleType('made'); exec('def f(): return 7', x.__dict__)", "x.f()"),
        Entry("module", "import json.decoder as x", "x.JSONDecoder().decode('[1]')"),
        Entry("weak reference", "kept = Slotted(9); x = weakref.ref(kept)", "x().a"),
        Entry("frame", "x = sys._getframe()", "x.f_code.co_name"),
        Entry("identity of objects", "x = {'kept': (same := []), 'also': same}", "x['kept'] is x['also']"),
    ),
)
