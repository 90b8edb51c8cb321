"""Objects that need no library: what shares parts, what belongs to the process, and values of the standard library."""

from bench.state.objects.case import Case

SHARING = """
import collections, copy, functools, gc, itertools, types, weakref

class Node:
    def __init__(self, value, parent=None):
        self.value, self.parent, self.children = value, parent, []
        if parent is not None:
            parent.children.append(self)
    def add(self, amount):
        self.value += amount
        return self.value

class Shelf:
    items = []

def pair():
    total = 0
    def add(amount):
        nonlocal total
        total += amount
    def read():
        return total
    return add, read

def reading(source):
    for item in source:
        yield item
"""

SHARED = (
    Case("two names for a list", "x = [1, 2]; y = x", "(y, x is y)", "x.append(3)"),
    Case("a list twice in a dict", "y = [1]; x = {'a': y, 'b': y}", "(y, x['a'] is x['b'] is y)", "y.append(2)"),
    Case("a list in itself", "x = [1]; x.append(x)", "(len(x), x[-1] is x)", "x.insert(0, 0)"),
    Case("a tuple of a list", "y = [1]; x = (y, 'a')", "(x[0] is y, y)", "y += [2]"),
    Case(
        "a parent and its child",
        "x = Node(1); y = Node(2, x)",
        "(x.value, x.children[0] is y, y.parent is x)",
        "x.value = 9; x.children.clear()",
    ),
    Case("an object and its bound method", "y = Node(1); x = y.add", "(y.value, x.__self__ is y)", "x(5)"),
    Case("two closures over one variable", "x, y = pair()", "y()", "x(3)"),
    Case(
        "two instances and an attribute of their class",
        "x, y = Shelf(), Shelf()",
        "(y.items, x.items is Shelf.items)",
        "x.items.append(1)",
    ),
    Case(
        "a default argument that is changed",
        "def x(item, seen=[]):\n    seen.append(item)\n    return list(seen)",
        "x(1)",
        "x(2)",
    ),
    Case("an attribute of a function", "def x(): return x.count\nx.count = 1", "x()", "x.count += 1"),
    Case("a function and the global that it changes", "x = 0\ndef step():\n    global x\n    x += 1", "x", "step()"),
    Case("a method that is replaced on a class", "x = Node(3)", "x.add(1)", "Node.add = lambda self, amount: 'other'"),
    Case("a class that gains an attribute", "x = Node", "hasattr(x, 'extra')", "x.extra = 1"),
    Case(
        "an object that changes its class",
        "x = Node(1); y = [x]",
        "(type(x).__name__, y[0] is x)",
        "x.__class__ = Shelf",
    ),
    Case("a view of the keys of a dict", "y = {'a': 1}; x = y.keys()", "(list(x), y)", "y['b'] = 2"),
    Case("a mapping proxy and its dict", "y = {'a': 1}; x = types.MappingProxyType(y)", "dict(x)", "y['a'] = 2"),
    Case(
        "a chain of two dicts",
        "y = {'a': 1}; x = collections.ChainMap({}, y)",
        "(x['a'], x.maps[1] is y)",
        "y['a'] = 2",
    ),
    Case(
        "a memoryview and its bytearray",
        "y = bytearray(b'abc'); x = memoryview(y)",
        "(bytes(y), x.obj is y)",
        "x[0] = 120",
    ),
    Case("a weak reference and its object", "y = Node(1); x = weakref.ref(y)", "x() is y and y.value", "del y"),
    Case("a dict of weak keys", "y = Node(1); x = weakref.WeakKeyDictionary({y: 1})", "(len(x), x[y])", "del y"),
    Case("an iterator over a named list", "y = [1, 2, 3]; x = iter(y); next(x)", "(y, next(x))", "y.clear()"),
    Case(
        "two ends of itertools.tee",
        "x, y = itertools.tee(reading(range(9))); next(x)",
        "(next(x), next(y))",
        "next(y), next(x)",
    ),
    Case("two names for a generator", "x = reading([1, 2, 3]); y = x; next(x)", "(next(y), x is y)", "next(x)"),
    Case(
        "a generator over a named generator",
        "y = reading(range(9)); x = reading(y); next(x)",
        "(next(x), next(y))",
        "next(y)",
    ),
    Case(
        "a map over a named iterator", "y = iter(range(9)); x = map(abs, y); next(x)", "(next(x), next(y))", "next(x)"
    ),
    Case(
        "a partial with a named list", "y = [1]; x = functools.partial(len, y)", "(x(), x.args[0] is y)", "y.append(2)"
    ),
    Case(
        "a deque in two objects",
        "y = collections.deque([1]); x = [Node(y), Node(y)]",
        "(list(y), x[0].value is x[1].value is y)",
        "x[0].value.append(2)",
    ),
    Case("a shallow copy", "y = [[1], [2]]; x = copy.copy(y)", "(y, x[0] is y[0], x is y)", "x[0].append(3)"),
    Case(
        "an object in a cycle that no name holds",
        "x = Node(1); x.parent = Node(2, x)",
        "(x.parent.parent is x, x.children[0] is x.parent)",
        "x.parent = None; gc.collect()",
    ),
    Case(
        "a lambda in a dict that reads it", "x = {'n': 1}; x['f'] = lambda: x['n']", "(x['f'](), len(x))", "x['n'] = 2"
    ),
    Case("a name that is deleted", "x = [1]; y = 5", "(x, y)", "del x, y"),
    Case(
        "a cached function",
        "@functools.lru_cache\ndef x(n): return [n]\ny = x(1)",
        "(x(1) is y, x.cache_info().currsize)",
        "x.cache_clear(); x(2)",
    ),
)

PROCESS = """
import builtins, contextvars, decimal, logging, math, os, pathlib, random, signal, statistics, sys, types, warnings

place = pathlib.Path.cwd()
(place / "sub").mkdir(exist_ok=True)
_ = (place / "made_module.py").write_text("value = [1]\\n", encoding="utf-8")

def ignored():
    return [entry[1].pattern for entry in warnings.filters if entry[1] is not None and "mine" in entry[1].pattern]
"""

OF_THE_PROCESS = (
    Case("a name in a module", "math.tau = 6; x = math", "x.tau", "math.tau = 3"),
    Case(
        "a function of a module that is replaced",
        "x = statistics; x.mean = lambda data: 'mine'",
        "x.mean([1])",
        "x.mean = lambda data: 'other'",
    ),
    Case("a name in builtins", "builtins.added = 1; x = builtins", "getattr(x, 'added', None)", "builtins.added = 2"),
    Case(
        "a module of a file, changed",
        "sys.path.insert(0, str(place)); import made_module as x; x.value.append(2)",
        "(x.value, sys.modules['made_module'] is x)",
        "x.value.append(3)",
    ),
    Case(
        "a module that is in sys.modules only",
        "x = sys.modules['made'] = types.ModuleType('made')",
        "sys.modules['made'] is x",
        "del sys.modules['made']",
    ),
    Case(
        "sys.path",
        "sys.path.append('/one'); x = sys.path",
        "(x[-1], sys.path[-1], x is sys.path)",
        "sys.path.append('/two')",
    ),
    Case(
        "os.environ",
        "os.environ['ADDED'] = '1'; x = os.environ",
        "(x.get('ADDED'), x is os.environ)",
        "os.environ['ADDED'] = '2'",
    ),
    Case("the current folder", "x = place / 'sub'; os.chdir(x)", "pathlib.Path.cwd() == x", "os.chdir(place)"),
    Case(
        "the state of random",
        "random.seed(1); x = random.Random(2)",
        "(random.random(), x.random())",
        "random.random(), x.random()",
    ),
    Case(
        "the decimal context",
        "decimal.getcontext().prec = 7; x = decimal.Decimal(1)",
        "str(x / 3)",
        "decimal.getcontext().prec = 5",
    ),
    Case("a context variable", "x = contextvars.ContextVar('x', default=1); _ = x.set(5)", "x.get()", "_ = x.set(2)"),
    Case(
        "a logger",
        "x = logging.getLogger('one'); x.setLevel(22); x.addHandler(logging.NullHandler())",
        "(x.level, len(x.handlers), x is logging.getLogger('one'))",
        "x.setLevel(33); x.handlers.clear()",
    ),
    Case(
        "the filters of warnings",
        "warnings.filterwarnings('ignore', 'mine'); x = warnings",
        "ignored()",
        "warnings.filterwarnings('ignore', 'mine too')",
    ),
    Case(
        "a signal handler",
        "def x(*_): pass\n_ = signal.signal(signal.SIGUSR2, x)",
        "signal.getsignal(signal.SIGUSR2) is x",
        "_ = signal.signal(signal.SIGUSR2, signal.SIG_IGN)",
    ),
    Case(
        "the recursion limit",
        "x = sys.getrecursionlimit() + 1000; sys.setrecursionlimit(x)",
        "sys.getrecursionlimit() == x",
        "sys.setrecursionlimit(x + 77)",
    ),
)

VALUES = (
    Case("a hash half way", "x = hashlib.sha256(b'one')", "x.copy().hexdigest()", "x.update(b'two')"),
    Case("itertools.cycle", "x = itertools.cycle('abc'); _ = next(x)", "next(x)", "_ = next(x)"),
    Case("ast.Module", "x = ast.parse('a + b')", "ast.unparse(x)", "x.body[0].value.left.id = 'c'"),
    Case("a dataclass", "x = Reading(1.0)", "(x, x.tags)", "x.tags.append('a'); x.value = 2.0"),
    Case(
        "an Enum with members of its own",
        "x = Colour.RED",
        "(x is Colour(1), str(x))",
        "Colour.RED.note = 1; x = Colour.BLUE",
    ),
    Case("a typed dict", "x = Options(size=1)", "(x, Options.__required_keys__ == {'size'})", "x['size'] = 2"),
    Case(
        "urllib.request.Request",
        "x = urllib.request.Request('http://a.test/')",
        "(x.headers, x.get_method())",
        "x.add_header('One', '1'); x.data = b'a'",
    ),
    Case("uuid.UUID", "x = uuid.UUID(int=5)", "str(x)", "x = uuid.UUID(int=6)"),
    Case("datetime.timedelta", "x = datetime.timedelta(1)", "str(x)", "x += datetime.timedelta(2)"),
    Case("re.Pattern", "x = re.compile('a+')", "x.pattern", "x = re.compile('b')"),
    Case("pathlib.Path", "x = pathlib.Path('/a')", "str(x)", "x = x / 'b'"),
    Case("json.JSONEncoder", "x = json.JSONEncoder(indent=1)", "x.encode([1])", "x.indent = None"),
    Case(
        "pickle.Pickler",
        "y = io.BytesIO(); x = pickle.Pickler(y); _ = x.dump([1])",
        "(len(y.getvalue()))",
        "_ = x.dump([2])",
    ),
    Case("heapq on a list", "x = [3, 1, 2]; heapq.heapify(x)", "x", "_ = heapq.heappop(x)"),
    Case("array.array", "x = array.array('d', [1, 2])", "x.tolist()", "x.append(3)"),
    Case(
        "sqlite3 in memory",
        "x = sqlite3.connect(':memory:'); _ = x.execute('create table t (n)')",
        "x.execute('select count(*) from t').fetchone()",
        "_ = x.execute('insert into t values (1)')",
    ),
    Case(
        "a cursor and its connection",
        "y = sqlite3.connect(':memory:'); x = y.cursor(); _ = x.execute('create table t (n)')",
        "(x.connection is y, y.total_changes)",
        "_ = x.execute('insert into t values (1)')",
    ),
    Case(
        "contextlib.ExitStack",
        "y = []; x = contextlib.ExitStack(); _ = x.callback(y.append, 1)",
        "(x.close(), y)",
        "x.close()",
    ),
    Case(
        "a context manager half way",
        "y = []; x = managed(y); _ = x.__enter__()",
        "(x.__exit__(None, None, None), y)",
        "_ = x.__exit__(None, None, None)",
    ),
    Case("a read half way through a file", "x = open(path); _ = x.readline()", "x.readline()", "_ = x.read()"),
    Case(
        "two names for an open file",
        "x = open(path); y = [x]; _ = x.read(1)",
        "(y[0].read(1), y[0] is x)",
        "_ = x.read(2)",
    ),
    Case("a csv reader and its file", "y = open(path); x = csv.reader(y); _ = next(x)", "next(x)", "_ = next(x)"),
)
VALUES_SETUP = """
import array, ast, contextlib, csv, dataclasses, datetime, enum, hashlib, heapq, io, itertools, json, pathlib, pickle
import re, sqlite3, typing, urllib.request, uuid

path = pathlib.Path.cwd() / "lines.txt"
_ = path.write_text("".join(f"{n},{n * n}\\n" for n in range(100)), encoding="utf-8")

@dataclasses.dataclass
class Reading:
    value: float
    tags: list = dataclasses.field(default_factory=list)

class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    def __str__(self):
        return f"the colour {self.name.lower()}"

class Options(typing.TypedDict):
    size: int

@contextlib.contextmanager
def managed(log):
    log.append("in")
    yield
    log.append("out")
"""
