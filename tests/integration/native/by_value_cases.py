"""Objects with what is to be true of them before and after a restore by value.

In the code of a case, `$name` is a variable of its own. The check is an expression, and its value has to be the same
afterwards; it may change the objects as long as its value is the same when it is evaluated again.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """`back`: whether all is as it was; else the restore has to name a variable of the case as missing."""

    name: str
    make: str
    check: str
    back: bool = True


ENUMS = [
    Case(
        "enum with its own str, repr and format",
        """
class $E(enum.Enum):
    A = 1
    B = 2
    def __str__(self): return "s" + self.name
    def __repr__(self): return "r" + self.name
    def __format__(self, spec): return "f" + self.name + spec
    @property
    def double(self): return self.value * 2
$a = $E.A
""",
        "(str($E.A), repr($E.B), format($E.A, 'x'), $a is $E.A, $E(2) is $E.B, $E['A'] is $a, $a.double, list($E))",
    ),
    Case(
        "enum with attributes set in __init__",
        """
$log = []
class $E(enum.Enum):
    EARTH = (5.9, 6.3)
    MARS = (0.6, 3.3)
    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius
        $log.append(self.name)
""",
        "($E.MARS.mass, $E((5.9, 6.3)).radius, len($log))",
    ),
    Case(
        "enum with __new__, _missing_ and _generate_next_value_",
        """
class $E(enum.Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    def __new__(cls, value):
        made = object.__new__(cls)
        made._value_ = value
        made.label = "label " + value
        return made
    @classmethod
    def _missing_(cls, value): return cls.ONE if value == "uno" else None
    ONE = enum.auto()
    TWO = enum.auto()
""",
        "($E.ONE.value, $E.TWO.label, $E('uno') is $E.ONE, [e.name for e in $E])",
    ),
    Case(
        "enum with aliases",
        "class $E(enum.Enum):\n    A = 1\n    B = 1\n    C = []\n$l = [$E.A, {$E.B: 1}]",
        "($E.A is $E.B, list($E.__members__), $l[0] is $E.A, $l[1][$E.A], $E([]) is $E.C)",
    ),
    Case(
        "int, str and flag enums",
        """
class $I(enum.IntEnum):
    ONE = 1
    TWO = 2
class $S(str, enum.Enum):
    X = "x"
    def shout(self): return self.upper()
class $F(enum.Flag):
    R = 4
    W = 2
    X = 1
    RW = R | W
class $G(enum.IntFlag):
    A = 1
    B = 2
$combined = $F.R | $F.X
$many = $G.A | $G.B | 8
""",
        "($I.ONE + $I.TWO, $I.ONE == 1, $I(2) is $I.TWO, $S.X.shout(), $S('x') is $S.X, $S.X == 'x', repr($combined),"
        " $combined is ($F.R | $F.X), $F.RW in $F.RW, $F.R in $combined, repr(~$F.R), $many is ($G.A | $G.B | 8),"
        " int($many), '%d' % $I.TWO, str($I.TWO), f'{$S.X}')",
    ),
    Case(
        "enum of a mixed-in class",
        """
@dataclasses.dataclass
class $Data:
    name: str
    size: int = 0
class $E(datetime.date, enum.Enum):
    NEW = 2020, 1, 1
class $D(enum.Enum):
    P = $Data("p", 1)
class $Mixin:
    def hello(self): return "hello " + self.name
class $M($Mixin, enum.Enum):
    Q = 1
""",
        "($E.NEW.year, $E.NEW.isoformat(), $D.P.value.size, $D($Data('p', 1)) is $D.P, $M.Q.hello())",
    ),
    Case(
        "enum nested in a class, and one that only instances know",
        """
class $Outer:
    class Kind(enum.Enum):
        GOOD = "good"
        def __str__(self): return "kind"
    default = Kind.GOOD
def $make():
    class Local(enum.Enum):
        L = 1
        def __str__(self): return "local"
    return Local.L
$local = $make()
$list = [$local, type($local)]
""",
        "(str($Outer.default), $Outer.Kind.GOOD is $Outer.default, str($local), $list[0] is $local,"
        " $list[1](1) is $local)",
    ),
    Case(
        "enum with a metaclass of the session",
        """
class $Meta(enum.EnumMeta):
    def __call__(cls, value, *args, **kwargs):
        return super().__call__(value.lower() if isinstance(value, str) else value, *args, **kwargs)
class $E(enum.Enum, metaclass=$Meta):
    A = "a"
""",
        "($E('A') is $E.A, type($E) is $Meta)",
    ),
    Case(
        "enum by the functional way, members as keys",
        "$E = enum.Enum('$E', 'RED GREEN'); $d = {$E.RED: 1}; $s = {$E.GREEN}; $k = [$E.RED]",
        "($d[$E.RED], $E.GREEN in $s, $k[0] is $E.RED, $E.RED.value)",
    ),
]

ENUMS += [
    Case(
        "newer enums",
        """
if sys.version_info >= (3, 11):
    @enum.verify(enum.UNIQUE)
    class $S(enum.StrEnum):
        ONE = enum.auto()
        TWO = enum.auto()
        @enum.property
        def shout(self): return self.upper()
    class $K(enum.Flag, boundary=enum.KEEP):
        A = 1
        B = 2
    class $N(enum.Enum):
        A = 1
        not_one = enum.nonmember(5)
        @enum.member
        def f(): return 3
    $k = $K(9)
else:
    $S = $K = $N = $k = None
class $Ignored(enum.Enum):
    _ignore_ = ["x"]
    x = 5
    Y = 1
class $Called(enum.Enum):
    ADD = functools.partial(lambda a, b: a + b)
    def __call__(self, *args): return self.value(*args)
""",
        "($S and ($S.ONE.shout, str($S.TWO), $S('one') is $S.ONE, repr($k), $k is $K(9), $N.not_one, len($N),"
        " $N.f.value()), list($Ignored), $Called.ADD(1, 2))",
    ),
]

CLASSES = [
    Case(
        "abstract class with registered classes",
        """
class $A(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
    @property
    @abc.abstractmethod
    def p(self): ...
@$A.register
class $R: pass
$A.register(dict)
class $C($A):
    def f(self): return 1
    p = 2
def $abstract():
    try: $A()
    except TypeError: return True
""",
        "(issubclass($R, $A), isinstance({}, $A), isinstance([], $A), $C().f(), $abstract(),"
        " sorted($A.__abstractmethods__))",
    ),
    Case(
        "class registered with a class of the library",
        "class $R:\n    pass\ncollections.abc.Sequence.register($R)\nnumbers.Number.register($R)",
        "(issubclass($R, collections.abc.Sequence), isinstance($R(), numbers.Number))",
    ),
    Case(
        "subclasshook, instancecheck",
        """
class $H(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other): return hasattr(other, "quack")
class $Duck:
    def quack(self): pass
class $Meta(type):
    def __instancecheck__(cls, other): return other == 5
class $Five(metaclass=$Meta): pass
""",
        "(issubclass($Duck, $H), issubclass(int, $H), isinstance(5, $Five), isinstance(6, $Five))",
    ),
    Case(
        "__init_subclass__ that fills a list",
        """
$registry = []
class $Base:
    def __init_subclass__(cls, /, tag=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.tag = tag
        $registry.append(cls)
class $One($Base, tag="one"): pass
class $Two($One, tag="two"): pass
""",
        "([c.__name__[-3:] for c in $registry], $registry[0] is $One, $One.tag, $Two.tag,"
        " '__init_subclass__' in vars($Base))",
    ),
    Case(
        "__init_subclass__ that counts in its class",
        """
class $Base:
    plugins = {}
    count = 0
    def __init_subclass__(cls):
        $Base.plugins[cls.__name__] = cls
        $Base.count += 1
class $P1($Base): pass
class $P2($Base): pass
""",
        "($Base.count, len($Base.plugins), $P1 in $Base.plugins.values())",
    ),
    Case(
        "metaclass that fills a list and counts",
        """
$made = []
class $Meta(type):
    count = 0
    def __new__(mcls, name, bases, body, **kwargs):
        cls = super().__new__(mcls, name, bases, body)
        $made.append(name)
        return cls
    def __init__(cls, name, bases, body, **kwargs):
        super().__init__(name, bases, body)
        type(cls).count += 1
    def __setattr__(cls, name, value):
        $made.append(name)
        super().__setattr__(name, value)
    def __call__(cls, *args):
        $made.append("call")
        return super().__call__(*args)
class $A(metaclass=$Meta, option=1):
    def f(self): return 1
class $B($A): pass
$b = $B()
""",
        "(len($made), $Meta.count, $b.f(), type($B) is $Meta)",
    ),
    Case(
        "metaclass that makes single instances",
        """
class $Single(type):
    _instances = {}
    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]
class $Config(metaclass=$Single):
    def __init__(self): self.values = {}
$config = $Config()
$config.values["a"] = 1
""",
        "($Config() is $config, $Config().values)",
    ),
    Case(
        "metaclass derived from ABCMeta, with __prepare__",
        """
class $Meta(abc.ABCMeta):
    @classmethod
    def __prepare__(mcls, name, bases): return collections.OrderedDict(given=1)
    def __iter__(cls): return iter((1, 2))
class $A(metaclass=$Meta):
    @abc.abstractmethod
    def f(self): ...
class $B($A):
    def f(self): return 3
""",
        "($A.given, list($B), $B().f(), inspect.isabstract($A))",
    ),
    Case(
        "__set_name__ and descriptors",
        """
$named = []
class $Field:
    def __set_name__(self, owner, name):
        self.name = name
        $named.append((owner.__name__, name))
    def __get__(self, instance, owner): return self if instance is None else instance.__dict__.get(self.name, 0)
    def __set__(self, instance, value): instance.__dict__[self.name] = value * 2
class $Model:
    x = $Field()
    y = $Field()
$model = $Model()
$model.x = 4
""",
        "($model.x, $model.y, len($named), $Model.x.name)",
    ),
    Case(
        "dataclasses",
        """
@dataclasses.dataclass(frozen=True, order=True)
class $Frozen:
    x: int
    y: list = dataclasses.field(default_factory=list, compare=False, metadata={"unit": "m"})
@dataclasses.dataclass
class $Init:
    a: int
    b: dataclasses.InitVar[int] = 3
    c: int = dataclasses.field(init=False, repr=False)
    D: typing.ClassVar[int] = 9
    def __post_init__(self, b): self.c = self.a * b
@dataclasses.dataclass
class $Child($Init):
    e: str = "e"
@dataclasses.dataclass(eq=True)
class $Node:
    next: "$Node" = None
$frozen, $init, $child = $Frozen(1), $Init(2), $Child(3, 4)
$node = $Node(); $node.next = $node
def $refused():
    try: $frozen.x = 2
    except dataclasses.FrozenInstanceError: return True
""",
        "($frozen, hash($frozen) == hash($Frozen(1)), $frozen < $Frozen(2), $refused(), $init.c, $Init(5, 6).c,"
        " $child, dataclasses.asdict($child), dataclasses.fields($Frozen)[1].metadata['unit'], $Init.D,"
        " $node.next is $node, $Frozen(1).y is not $frozen.y, dataclasses.replace($init, a=4, b=1).c)",
    ),
    Case(
        "dataclass with slots",
        """
import sys
$options = {"slots": True, "kw_only": True} if sys.version_info >= (3, 10) else {}
@dataclasses.dataclass(**$options)
class $S:
    x: int
    y: int = 2
    def total(self): return self.x + self.y
@dataclasses.dataclass(frozen=True, **$options)
class $F:
    z: int
$s, $f = $S(x=1), $F(z=5)
""",
        "($s, $s.total(), $f, hash($f) == hash($F(z=5)), hasattr($s, '__dict__'), $S(x=3).y)",
    ),
    Case(
        "__slots__ in a family, with a mangled name and a weak reference",
        """
class $A:
    __slots__ = ("a", "__hidden", "__weakref__")
    def __init__(self): self.a, self.__hidden = 1, 2
    def hidden(self): return self.__hidden
class $B($A):
    __slots__ = ("b",)
class $C($B):
    pass
$b, $c = $B(), $C()
$b.b = $c
$c.free = [$b]
$ref = weakref.ref($b)
""",
        "($b.a, $b.hidden(), $b.b is $c, $c.free[0] is $b, hasattr($b, '__dict__'), $ref() is $b)",
    ),
    Case(
        "NamedTuple, namedtuple, TypedDict, Protocol, Generic, NewType",
        """
$Point = collections.namedtuple("$Point", "x y", defaults=[0])
class $Row(typing.NamedTuple):
    a: int
    b: str = "b"
    def both(self): return f"{self.a}{self.b}"
class $Movie(typing.TypedDict, total=False):
    title: str
class $Sequel($Movie):
    part: int
@typing.runtime_checkable
class $Runs(typing.Protocol):
    def run(self) -> int: ...
class $Runner:
    def run(self): return 1
$T = typing.TypeVar("$T", bound=int)
class $Box(typing.Generic[$T]):
    def __init__(self, item: $T): self.item = item
class $IntBox($Box[int]): pass
$Id = typing.NewType("$Id", int)
$point, $row, $movie, $box = $Point(1), $Row(1), $Movie(title="t"), $IntBox(3)
$alias = $Box[int]
""",
        "($point, $point._replace(y=4), $row, $row.both(), $movie, sorted($Sequel.__annotations__),"
        " sorted($Sequel.__optional_keys__), isinstance($Runner(), $Runs), isinstance(3, $Runs), $box.item,"
        " $alias == $Box[int], $Box.__parameters__ == ($T,), $T.__bound__, $Id(3), $IntBox.__orig_bases__)",
    ),
    Case(
        "class decorators, class attributes that refer to other classes, and circles of classes",
        """
$decorated = []
def $mark(cls):
    $decorated.append(cls)
    cls.marked = True
    return cls
@$mark
class $A: pass
@$mark
class $B:
    other = $A
$A.other = $B
$A.itself = $A
$A.instance = $A()
""",
        "(len($decorated), $decorated[0] is $A, $A.other is $B, $B.other is $A, $A.itself is $A,"
        " type($A.instance) is $A)",
    ),
    Case(
        "class in a function, with super() and its cell",
        """
def $make(base, step):
    class Local(base):
        def value(self): return super().value() + step
        def own(self): return __class__
    return Local
class $Base:
    def value(self): return 1
$L1 = $make($Base, 10)
$L2 = $make($L1, 100)
$l = $L2()
$others = [$make($Base, 5)(), $make($Base, 6)()]
""",
        "($l.value(), $l.own() is $L2, $L2.__mro__[1] is $L1, [o.value() for o in $others],"
        " type($others[0]) is type($others[1]))",
    ),
    Case(
        "class that several variables' objects are of, and no variable",
        """
def $make():
    class Hidden:
        made = []
        def __init__(self): self.made.append(1)
    return Hidden(), Hidden()
$x, $y = $make()
$z = [type($x)]
""",
        "(type($x) is type($y), $z[0] is type($x), len($x.made), $x.made is $y.made)",
    ),
    Case(
        "properties and methods of all kinds",
        """
class $Special(property):
    mark = 1
class $C:
    def __init__(self): self._v = 1
    @property
    def v(self): "doc of v"; return self._v
    @v.setter
    def v(self, value): self._v = value
    @v.deleter
    def v(self): self._v = None
    special = $Special(lambda self: 8)
    @classmethod
    def c(cls): return cls.__name__
    @staticmethod
    def s(): return "s"
    part = functools.partialmethod(lambda self, x: x + 1, 2)
    @functools.cached_property
    def cached(self):
        self.calls = vars(self).get("calls", 0) + 1
        return [self.calls]
    @functools.singledispatchmethod
    def kind(self, x): return "any"
    @kind.register
    def _(self, x: int): return "int"
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return "dynamic"
    def __class_getitem__(cls, item): return item
    __hash__ = None
$c = $C()
$c.cached
""",
        "($c.v, $C.v.__doc__, $c.special, type(vars($C)['special']).mark, $c.c()[-1:], $c.s(), $c.part(), $c.cached,"
        " $c.calls, $c.kind(1), $c.kind(''), $c.anything, $C[3], $C.__hash__)",
    ),
    Case(
        "class with attributes shared with variables",
        """
$shared = []
class $A:
    items = $shared
    def add(self, x, to=$shared): to.append(x)
class $B:
    items = $A.items
$A().add(1)
""",
        "($A.items is $shared, $B.items is $shared, $A.add.__defaults__[0] is $shared, len($shared))",
    ),
    Case(
        "ctypes structure",
        "class $S(ctypes.Structure):\n    _fields_ = [('a', ctypes.c_int), ('b', ctypes.c_double)]\n$s = $S(1, 2.5)",
        "($s.a, $s.b, ctypes.sizeof($S), $S(4).a)",
    ),
    Case(
        "instance with a state of its own",
        """
class $Own:
    def __init__(self): self.kept, self.dropped = 1, 2
    def __getstate__(self): return {"kept": self.kept}
    def __setstate__(self, state): self.__dict__.update(state); self.loaded = True
class $Args:
    def __new__(cls, a, *, b): made = super().__new__(cls); made.sum = a + b; return made
    def __getnewargs_ex__(self): return (1,), {"b": 2}
class $Numbers(list):
    extra = None
class $Keyed(dict):
    def __missing__(self, key): return key
$own, $args = $Own(), $Args(3, b=4)
$numbers = $Numbers([1]); $numbers.extra = $numbers
$keyed = $Keyed(a=1)
""",
        "($own.kept, type($own) is $Own, $numbers.extra is $numbers, $numbers == [1], $keyed['z'], $keyed['a'])",
    ),
]

CLASSES += [
    Case(
        "annotations and generic aliases of classes of the session",
        """
class $Node:
    next: typing.Optional["$Node"]
    def to(self, other: "$Node") -> typing.List["$Node"]: return [self, other]
$alias = typing.Dict[str, $Node]
$union = typing.Union[$Node, int]
$tuple = typing.Tuple[$Node, ...]
$call = typing.Callable[[$Node], int]
$literal = typing.Literal["a", 1]
$annotated = typing.Annotated[$Node, "note"]
def $f(x: $Node, *, y: int = 1) -> $Node: return x
""",
        "($alias == typing.Dict[str, $Node], $union == typing.Union[$Node, int], $tuple.__args__[0] is $Node,"
        " $call, $literal, $annotated.__metadata__, typing.get_type_hints($f)['x'] is $Node,"
        " typing.get_type_hints($Node)['next'] == typing.Optional[$Node], str(inspect.signature($f)))",
    ),
    Case(
        "single objects that mark something",
        """
$MISSING = object()
class $Mark:
    _only = None
    def __new__(cls):
        if cls._only is None: cls._only = super().__new__(cls)
        return cls._only
    def __repr__(self): return "mark"
$MARK = $Mark()
def $f(x=$MISSING, y=$MARK): return x is $MISSING, y is $MARK
class $Holder:
    default = $MISSING
    marks = [$MARK, $MISSING]
""",
        "($f(), $Holder.default is $MISSING, $Mark() is $MARK, $Holder.marks[0] is $MARK, $Mark._only is $MARK)",
    ),
    Case(
        "comparisons, contexts and iterators of the session's own",
        """
@functools.total_ordering
class $V:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __lt__(self, other): return self.n < other.n
class $Counter:
    def __init__(self): self.i = 0
    def __iter__(self): return self
    def __next__(self):
        self.i += 1
        return self.i
class $Manager:
    def __enter__(self): return self
    def __exit__(self, *_): return True
$v, $it, $m = [$V(2), $V(1)], $Counter(), $Manager()
next($it)
$stack = contextlib.ExitStack()
$called = []
$stack.callback($called.append, 1)
$user = collections.UserDict(a=1); $user.itself = $user
""",
        "(sorted($v)[0] is $v[1], $V(1) >= $V(0), $it.i, iter($it) is $it, $user.itself is $user,"
        " len($stack._exit_callbacks), $called)",
    ),
    Case(
        "classes whose methods do something when an instance is made or filled",
        """
$ran = []
class $Counted:
    count = 0
    def __new__(cls, *args):
        $Counted.count += 1
        return super().__new__(cls)
    def __init__(self, x): self.x = x
class $Doubled(int):
    def __new__(cls, x): return super().__new__(cls, x * 2)
class $Pair(tuple):
    def __new__(cls, a, b): return super().__new__(cls, (a, b))
class $Listed(list):
    def append(self, x): $ran.append(x); super().append(x + 1)
    def extend(self, xs): $ran.append(xs); super().extend(x + 1 for x in xs)
class $Upper(dict):
    def __init__(self, name): super().__init__(); self.name = name
    def __setitem__(self, key, value): $ran.append(key); super().__setitem__(key + "+", value)
class $Ordered(collections.OrderedDict):
    def __init__(self, name): super().__init__(); self.name = name
class $Bag(collections.Counter):
    def __init__(self, text, extra=1): super().__init__(text); self.update({"extra": extra})
class $Default(collections.defaultdict):
    def __init__(self): super().__init__(list); $ran.append("default")
class $Group(set):
    def __init__(self, name, items): super().__init__(items); self.name = name
class $Frozen(frozenset):
    def __new__(cls, *items): return super().__new__(cls, items)
class $Last(collections.deque):
    def __init__(self, size): super().__init__(maxlen=size)
class $Day(datetime.date):
    def __new__(cls, year): return super().__new__(cls, year, 1, 1)
class $Text(str):
    def __new__(cls, *words): made = super().__new__(cls, "-".join(words)); made.words = words; return made
class $Guarded:
    __slots__ = ("a",)
    def __init__(self): object.__setattr__(self, "a", 1)
    def __setattr__(self, name, value): raise AttributeError("frozen")
$counted, $doubled, $pair, $listed, $upper = $Counted(1), $Doubled(3), $Pair(1, 2), $Listed(), $Upper("n")
$listed.append(1); $upper["k"] = $upper
$ordered, $bag, $default, $group = $Ordered("o"), $Bag("aab"), $Default(), $Group("g", [1])
$ordered["z"] = 1; $default["d"].append(2)
$frozen, $last, $day, $text, $guarded = $Frozen(1, 2), $Last(2), $Day(2020), $Text("a", "b"), $Guarded()
$last.extend([1, 2, 3])
""",
        "($Counted.count, $counted.x, $doubled, $pair, $listed, $upper.name, list($upper), $upper['k+'] is $upper,"
        " $ordered, $ordered.name, sorted($bag.items()), $default['d'], $group, $group.name, $frozen, $last,"
        " $last.maxlen, $day, $text, $text.words, $guarded.a, len($ran), type($bag) is $Bag)",
    ),
]

FUNCTIONS = [
    Case(
        "functions with shared defaults, cells, attributes",
        """
$default = []
def $f(x, seen=$default, *, more={}): seen.append(x); return len(seen)
def $g(seen=$default): return len(seen)
def $make():
    n = 0
    def up():
        nonlocal n
        n = 7
        return n
    def get(): return n
    return up, get
$up, $get = $make()
$both = {"up": $up, "get": $get}
$f.attribute = $both
""",
        "($f.__defaults__[0] is $default, $g.__defaults__[0] is $default, $up(), $get(), $both['get'] is $get,"
        " $f.attribute is $both, $f.__kwdefaults__)",
    ),
    Case(
        "functions in no variable of their own",
        """
$a = [lambda: 1]
$b = {"same": $a[0]}
def $outer():
    def inner(): pass
    inner.calls = []
    return inner
$c = ($outer(),)
$d = [$c[0]]
""",
        "($b['same'] is $a[0], $c[0] is $d[0], $c[0].calls is $d[0].calls, $a[0]())",
    ),
    Case(
        "functions of another namespace",
        """
$space = {"k": 5}
exec("def f():\\n    global k\\n    k = k | 8\\n    return k\\ndef g(): return k", $space)
$f, $g = $space["f"], $space["g"]
""",
        "($f(), $g(), $space['k'], $f.__globals__ is $space, $space['f'] is $f)",
    ),
    Case(
        "functions of a namespace that nothing else has",
        """
def $make():
    space = dict(globals(), k=5, generator=(x for x in ()))
    exec("def f():\\n    global k\\n    k = k | 8\\n    return k\\ndef g(): return k", space)
    held = {"k": 6}
    exec("def h(): return k", held)
    return space["f"], space["g"], held["h"], held
$f, $g, $h, *$rest = $make()
""",
        "($f(), $g(), $f.__globals__ is $g.__globals__, $h(), $h.__globals__ is $rest[0])",
    ),
    Case(
        "module made by hand",
        """
$m = types.ModuleType("$m", "its doc")
exec("n = 3\\ndef f():\\n    global n\\n    n = 4\\n    return n\\nclass C: pass", $m.__dict__)
$f = $m.f
$same = [$m]
import sys
$registered = types.ModuleType("$registered")
sys.modules["$registered"] = $registered
$registered.x = 1
class $Lazy(types.ModuleType):
    def __getattr__(self, name):
        if name[:2] == "__": raise AttributeError(name)
        return name
string.__class__ = $Lazy
$string = string
""",
        "($f(), $m.n, $same[0] is $m, $f.__globals__ is vars($m), $m.__doc__,"
        " __import__('$registered') is $registered, $registered.x,"
        " $string is __import__('string'))",
    ),
    Case(
        "lru_cache, cache, singledispatch",
        """
@functools.lru_cache(maxsize=7)
def $cached(n): return n + 1
$cached.note = "n"
def $make():
    @functools.lru_cache(None)
    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
    return fib
$fib = $make()
@functools.singledispatch
def $kind(x): return "any"
@$kind.register(int)
def _(x): return "int"
@$kind.register(list)
def $list(x): return "list"
$kind.register(bytes, lambda x: "bytes")
""",
        "($cached.cache_parameters()['maxsize'], $cached.note, $cached.__name__[-6:], $kind(1), $kind(''), $kind([]),"
        " $kind(b''), $kind.registry[list] is $list, $kind.dispatch(bool)(1))",
    ),
    Case(
        "what a function has cached",
        "@functools.lru_cache\ndef $f(n): return [n]\n$f(1)\n$calls = 0",
        "$f.cache_info().currsize",
        back=False,
    ),
    Case(
        "decorated functions",
        """
def $logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        wrapper.calls += 1
        return function(*args)
    wrapper.calls = 0
    return wrapper
@$logged
def $f(x): "doc of f"; return x * 2
@contextlib.contextmanager
def $manager():
    yield 5
def $uses():
    with $manager() as five:
        return five
$h = functools.partial($f, 4)
""",
        "($f.__doc__, $f.__wrapped__(3), $h(), $uses(), $h.func is $f, $f.__name__[-1:])",
    ),
    Case(
        "async functions and generators functions",
        """
async def $co(x): return x + 1
async def $gen():
    yield 1
    yield 2
def $plain():
    received = yield 1
async def $all(): return [x async for x in $gen()] + [await $co(1)]
def $drive():
    try: $all().send(None)
    except StopIteration as stop: return stop.value
""",
        "($drive(), list($plain()), inspect.iscoroutinefunction($co), inspect.isasyncgenfunction($gen))",
    ),
    Case(
        "bound methods",
        """
class $C:
    def __init__(self): self.n = 0
    def up(self): self.n = 5; return self.n
    renamed = lambda self: "renamed"
    @classmethod
    def make(cls): return cls()
$c = $C()
$up, $renamed, $make = $c.up, $c.renamed, $C.make
$free = types.MethodType(lambda self, x: (self, x), $c)
$append = [].append
$items = $append.__self__
$join = ", ".join
""",
        "($up.__self__ is $c, $up(), $c.n, $renamed(), type($make()) is $C, $free(1)[0] is $c,"
        " $append.__self__ is $items, $join('ab'))",
    ),
    Case(
        "functions that refer to themselves and to each other",
        """
def $even(n): return n == 0 or $odd(n - 1)
def $odd(n): return n != 0 and $even(n - 1)
$f = lambda: $f
$f.me = $f
""",
        "($even(10), $odd(7), $f() is $f, $f.me is $f)",
    ),
    Case("generator (begun)", "$g = (x for x in [1, 2]); next($g)", "$g.gi_frame.f_lineno", back=False),
    Case("coroutine", "async def $f(): pass\n$co = $f(); $holder = [$co]", "$co.cr_running", back=False),
    Case(
        "functions of main",
        "import __main__ as $main\n$names = vars($main)",
        "($main.$main is $main, '$names' in $names)",
    ),
    Case("the namespace", "$g = globals(); $h = [globals()]", "($g is globals(), $h[0] is $g)"),
]

CONTAINERS = [
    Case(
        "containers in circles, through classes",
        """
$l = []; $l.append($l)
$d = {}; $d["d"] = $d
$t = ([],); $t[0].append($t)
class $Node:
    all = []
    def __init__(self): self.all.append(self); self.peers = {self}
$n = $Node()
$o = collections.OrderedDict(a=1); $o["o"] = $o
$q = collections.deque([1], maxlen=3); $q.append($q)
""",
        "($l[0] is $l, $d['d'] is $d, $t[0][0] is $t, $n.all[0] is $n, $n in $n.peers, $o['o'] is $o, $q[1] is $q,"
        " $q.maxlen)",
    ),
    Case(
        "parts in common, whatever they are",
        """
class $Eq:
    def __init__(self, k): self.k, self.items = k, []
    def __eq__(self, other): return self.k == other.k
    def __hash__(self): return hash(self.k)
$common = [$Eq(1), {"x"}, bytearray(b"b"), {"k": 1}, collections.deque([1]), lambda: 1, io.BytesIO(b"abc")]
$a, $b = list($common), tuple($common)
del $common
""",
        "[x is y for x, y in zip($a, $b)]",
    ),
    Case(
        "default factories and other functions in containers",
        """
def $factory(): return [0]
class $Made:
    pass
$dd = collections.defaultdict($factory)
$dl = collections.defaultdict(lambda: collections.defaultdict(int))
$dm = collections.defaultdict($Made)
$cm = collections.ChainMap($dd, {"z": 1})
$heap = [(1, $factory)]
""",
        "($dd['q'], $dl['a']['b'], type($dm['c']) is $Made, $cm.maps[0] is $dd, $heap[0][1] is $factory,"
        " $dd.default_factory is $factory)",
    ),
    Case(
        "views of dicts",
        "$d = {'a': 1}; $k, $v, $i, $p = $d.keys(), $d.values(), $d.items(), types.MappingProxyType($d)\n"
        "$hidden = {'h': 1}.keys(); $proxies = [$p]",
        "($d.update(b=2), list($k), list($v), list($i), $p['b'], list($hidden), $proxies[0] is $p)",
    ),
    Case(
        "iterators (begun)",
        """
$list = [1, 2, 3]
$it = iter($list); next($it)
$tuple, $range, $str, $dict = iter((1, 2)), iter(range(3)), iter("ab"), iter({"a": 1, "b": 2})
next($range), next($dict)
$zip, $map, $filter = zip($list, "abc"), map(str, $list), filter(None, [0, 1, 2])
next($zip), next($map), next($filter)
$enumerate, $reversed = enumerate("abc"), reversed($list)
next($enumerate), next($reversed)
$used = iter([]); list($used)
""",
        "[list(copy.deepcopy(x)) for x in ($it, $tuple, $range, $str, $dict, $zip, $map, $filter, $enumerate,"
        " $reversed, $used)]",
    ),
    Case(
        "itertools (begun)",
        """
$count, $cycle, $chain = itertools.count(3, 2), itertools.cycle("abc"), itertools.chain("ab", "cd")
next($count), next($cycle), next($chain)
$product, $perms, $slice = itertools.product("ab", "cd"), itertools.permutations("abc"), itertools.islice("abcde", 1, 4)
next($product), next($perms), next($slice)
$acc, $rep = itertools.accumulate([1, 2, 3]), itertools.repeat("r", 3)
next($acc), next($rep)
$t1, $t2 = itertools.tee([1, 2, 3])
next($t1)
$g = itertools.groupby("aabb")
$gkey = next($g)[0]
""",
        "([list(itertools.islice(copy.deepcopy(x), 4)) for x in ($count, $cycle, $chain, $product, $perms, $slice,"
        " $acc, $rep)], list(copy.copy($t1)), list(copy.copy($t2)))",
    ),
    Case(
        "iterator over a list that grows",
        "$list = [1]; $it = iter($list)",
        "($list.append(0), $list.pop(), list(copy.copy($it)), $it.__reduce__()[1][0] is $list)",
    ),
    Case(
        "NaN in containers",
        "$nan = float('nan'); $l = [$nan, math.nan]; $d = {$nan: 1}; $t = ($nan,)",
        "($nan in $l, math.nan in $l, $d[$nan], $t[0] is $nan, $l[0] is $nan, $t == ($nan,))",
    ),
    Case(
        "sets, frozensets and hashes",
        """
class $K:
    def __init__(self, k): self.k = k; self.h = hash(k)
    def __hash__(self): return self.h
    def __eq__(self, other): return self.k == other.k
$k = $K("text")
$s = {$k, $K("other")}
$f = frozenset([$k, 1])
$objects = {object(): 1}
$key = next(iter($objects))
$words = set("the quick brown fox jumps over the lazy dog".split())
""",
        "($K('text') in $s, $k in $f, $objects[$key], sorted($words), $K('other') in $s)",
    ),
    Case(
        "weak references",
        """
class $C: pass
$c = $C()
$gone = weakref.ref($C())
$ref, $proxy, $method = weakref.ref($c), weakref.proxy($c), weakref.WeakMethod(types.MethodType(lambda self: 1, $c))
$c.value = 1
$dead = []
$calls = weakref.ref($c, $dead.append)
$wv = weakref.WeakValueDictionary(c=$c)
$wk = weakref.WeakKeyDictionary({$c: "v"})
$ws = weakref.WeakSet([$c])
$list = [$C()]
$inner = weakref.ref($list[0])
class $Tree:
    def __init__(self, parent=None):
        self.parent = parent and weakref.ref(parent)
        self.children = []
        if parent: parent.children.append(self)
$root = $Tree(); $leaf = $Tree($root)
""",
        "($ref() is $c, $proxy.value, type($proxy).__name__, $gone(), $wv['c'] is $c, $wk[$c], $c in $ws, len($ws),"
        " $inner() is $list[0], $leaf.parent() is $root, $root.children[0] is $leaf, $calls() is $c,"
        " $calls.__callback__.__self__ is $dead)",
    ),
    Case(
        "finalizers",
        "class $C: pass\n$c = $C(); $log = []\n$f = weakref.finalize($c, $log.append, 1); $f.atexit = False\n"
        "$done = weakref.finalize($C(), int)",
        "($f.alive, $f.peek()[0] is $c, $f.peek()[2], $f.atexit, $done.alive)",
    ),
    Case(
        "exceptions with causes, contexts, notes and attributes",
        """
class $Own(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code
class $Sys(OSError):
    def __init__(self, path): super().__init__(2, "none", path); self.extra = 1
$e = ValueError("v", 1)
$e.__cause__ = $Own(5, "cause")
$e.__notes__ = ["note"]
$c = KeyError("k")
$c.__context__ = $e
$o = $Sys("/p")
$u = UnicodeDecodeError("utf-8", b"x", 0, 1, "why")
$s = StopIteration(3)
$i = ImportError("no", name="n", path="p")
$f = FileNotFoundError(2, "no", "file")
$errors = [$e]
""",
        "($e.args, $e.__cause__.code, str($e.__cause__), $e.__notes__, $e.__suppress_context__, $c.__context__ is $e,"
        " $o.filename, $o.errno, $o.extra, $u.reason, $s.value, $i.name, $f.filename, type($f).__name__,"
        " $errors[0] is $e)",
    ),
    Case(
        "exception group",
        "import sys\n$g = ExceptionGroup('g', [ValueError(1)]) if sys.version_info >= (3, 11) else 0",
        "repr($g)",
    ),
    Case(
        "exception with its traceback",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    $e = error",
        "$e.__traceback__ is not None",
        back=False,
    ),
    Case(
        "what every process has one of",
        "$out, $err, $path, $environ, $modules = sys.stdout, sys.stderr, sys.path, os.environ, sys.modules\n"
        "$list = [sys.stdout]",
        "($out is sys.stdout, $err is sys.stderr, $path is sys.path, $environ is os.environ, $list[0] is sys.stdout,"
        " $modules is sys.modules)",
    ),
    Case(
        "streams in memory, numbers and times",
        """
$b = io.BytesIO(b"abcdef"); $b.seek(2)
$s = io.StringIO("text"); $s.read(1)
$numbers = [decimal.Decimal("1.10"), fractions.Fraction(1, 3), 10**40, -0.0, float("inf"), 1j]
$times = [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), datetime.timedelta(1), uuid.UUID(int=5)]
$pattern, $path, $net = re.compile("a+", re.I), pathlib.Path("/a"), ipaddress.ip_network("10.0.0.0/8")
$array = array.array("i", [1, 2]); $other = [$array]
""",
        "($b.tell(), $s.tell(), $s.getvalue(), $numbers, $times, $pattern, $path, $net, $array, $other[0] is $array)",
    ),
    Case(
        "queue, event, semaphore, condition",
        "$q = queue.Queue(3); $q.put([1]); $e = threading.Event(); $e.set()\n"
        "$s = threading.Semaphore(2); $c = threading.Condition()",
        "($q.qsize(), $q.maxsize, $e.is_set(), $s._value, $c.acquire(), $c.release())",
    ),
    Case("lock, held", "$lock = threading.Lock(); $lock.acquire()", "$lock.locked()", back=False),
    Case(
        "lock in an object, held",
        "class $C: pass\n$c = $C(); $c.lock = threading.RLock(); $c.lock.acquire()",
        "repr($c.lock)[:7]",
        back=False,
    ),
    Case("threading.local", "$l = threading.local(); $l.x = 1", "$l.x", back=False),
    Case("context variable", "$v = contextvars.ContextVar('$v', default=3); $v.set(4)", "$v.get()", back=False),
    Case("memory view", "$b = bytearray(b'abc'); $v = memoryview($b)", "($b.__setitem__(0, 120), $v[0])", back=False),
    Case(
        "ctypes object on other memory",
        "$b = bytearray(8); $i = ctypes.c_int.from_buffer($b)",
        "($b.__setitem__(0, 7), $i.value)",
        back=False,
    ),
    Case("file for writing", "$f = open('$f', 'w')", "$f.write('')", back=False),
    Case("socket", "$s = socket.socket()", "$s.fileno() > 0", back=False),
    Case("temporary folder", "$t = tempfile.TemporaryDirectory()", "(os.path.isdir($t.name), $t._finalizer.alive)"),
    Case(
        "object with __del__",
        "class $D:\n    gone = []\n    def __del__(self): self.gone.append(1)\n$d = $D(); $l = [$d]",
        "($D.gone, $l[0] is $d)",
    ),
    Case(
        "logger",
        "$log = logging.getLogger('$log'); $list = [$log]",
        "($log is logging.getLogger('$log'), $list[0] is $log)",
    ),
]

SETTINGS = [
    Case(
        "loggers",
        """
class $Collect(logging.Handler):
    def __init__(self): super().__init__(); self.seen = []
    def emit(self, record): self.seen.append(record.getMessage())
class $Only(logging.Filter):
    def filter(self, record): return "no" not in record.getMessage()
$handler = $Collect()
$log = logging.getLogger("$log")
$log.setLevel("DEBUG"); $log.addHandler($handler); $log.addFilter($Only()); $log.propagate = False
$child = logging.getLogger("$log.child")
$child.setLevel(logging.ERROR)
$file = logging.FileHandler("$file", mode="w", encoding="utf-8")
$file.setFormatter(logging.Formatter("%(message)s!"))
$log.addHandler($file)
$stream = logging.StreamHandler(sys.stderr)
$child.addHandler($stream)
$child.disabled = True
logging.root.setLevel(logging.INFO)
logging.disable(5)
def $told():
    $handler.seen.clear()
    $log.info("yes"); $log.info("no")
    return $handler.seen, open("$file", encoding="utf-8").readline()
""",
        "($log.level, $log.propagate, $log.handlers[0] is $handler, $log.filters, $child.level, $child.disabled,"
        " $child.handlers[0].stream is sys.stderr, logging.root.level, logging.root.manager.disable, $told())".replace(
            "$log.filters,", "type($log.filters[0]) is $Only,"
        ),
    ),
    Case(
        "filters of warnings",
        "class $W(UserWarning): pass\nwarnings.simplefilter('error', $W)",
        "any(f[0] == 'error' and f[2] is $W for f in warnings.filters)",
    ),
    Case(
        "context of decimal",
        "decimal.getcontext().prec = 5; $c = decimal.getcontext()",
        "(str(decimal.Decimal(1) / 3), $c is decimal.getcontext())",
    ),
    Case("locale", "$l = locale.setlocale(locale.LC_ALL, 'C.UTF-8')", "locale.setlocale(locale.LC_ALL) == $l"),
    Case("recursion limit", "$l = 1234; sys.setrecursionlimit($l)", "sys.getrecursionlimit() == $l"),
    Case("umask", "$u = os.umask(0o27)", "(oct(os.umask(0o27)))"),
    Case(
        "signal handlers",
        "$got = []\ndef $on(number, frame): $got.append(number)\nsignal.signal(signal.SIGUSR1, $on)\n"
        "signal.signal(signal.SIGUSR2, signal.SIG_IGN); signal.signal(signal.SIGPIPE, signal.SIG_DFL)",
        "(signal.getsignal(signal.SIGUSR1) is $on, signal.getsignal(signal.SIGUSR2).name,"
        " signal.getsignal(signal.SIGPIPE).name)",
    ),
    Case(
        "random numbers",
        "from random import shuffle as $shuffle, random as $random\nrandom.seed(4); $state = random.getstate()",
        "(random.getstate() == $state, $shuffle is random.shuffle, $random is random.random)",
    ),
]

NUMPY = [
    Case(
        "views of a variable",
        """
$a = np.arange(12.0)
$v, $r, $s, $m = $a[2:5], $a[::-1], $a[::3], $a.reshape(3, 4)
$t = $m.T
$f = np.asfortranarray(np.arange(6).reshape(2, 3)); $fv = $f[:, 1:]
""",
        "($a.__setitem__(slice(None), np.arange(12) * 2), $v.tolist(), $r.tolist(), $s.tolist(), $m.tolist(),"
        " $t.tolist(), $v.base is $a, $t.base is $a, $f.__setitem__(0, 9), $fv.tolist(), $fv.strides,"
        " $f.flags.f_contiguous, $a.flags.owndata, $a.base is None, np.shares_memory($m, $t))",
    ),
    Case(
        "views of what no variable holds",
        "$l = [np.arange(5)]; $d = {'v': $l[0][1:]}; $x, $y = (lambda a: (a[:3], a[1:]))(np.arange(4))",
        "($l[0].__setitem__(1, 9), $d['v'][0], $x.__setitem__(1, 5), $y[0], np.shares_memory($x, $y))",
    ),
    Case(
        "views in one container",
        "$a = (lambda a: [a, a[1:], a.reshape(2, 2)])(np.zeros(4))",
        "($a[0].__setitem__(1, 3.0), $a[1][0], $a[2][0, 1])",
    ),
    Case(
        "views of record fields, of times, of objects, read-only ones",
        """
$r = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")]); $ra = $r["a"]; $rec = $r.view(np.recarray)
$t = np.zeros(3, "M8[s]"); $tv = $t[1:]
$o = np.array([[1], "two", None], dtype=object); $ov = $o[::2]
$w = np.arange(3); $ro = $w[:]; $ro.flags.writeable = False
$alone = np.arange(3); $alone.flags.writeable = False
$b = np.broadcast_to($w, (2, 3))
$win = np.lib.stride_tricks.sliding_window_view($w, 2)
""",
        "($ra.__setitem__(0, 5), $r['a'][0], $rec.a[0], $t.__setitem__(1, np.datetime64(7, 's')), "
        " int($tv[0].astype(int)),"
        " $o.__setitem__(2, 'x'), $ov[1], $o[0] is $ov[0], $ro.flags.writeable, $alone.flags.writeable,"
        " $w.__setitem__(0, 4), $ro[0], $b[1, 0], $win[0, 0], $b.strides)",
    ),
    Case(
        "arrays on other memory",
        """
$ba = bytearray(8); $n = np.frombuffer($ba, np.uint8)
$arr = array.array("i", [1, 2]); $an = np.frombuffer($arr, np.int32)
$mv = np.asarray(memoryview($ba))
""",
        "($ba.__setitem__(0, 3), $n[0], $arr.__setitem__(1, 9), int($an[1]), $mv[0])",
    ),
    Case(
        "subclasses",
        """
class $Info(np.ndarray):
    def __new__(cls, data, info): made = np.asarray(data).view(cls); made.info = info; return made
    def __array_finalize__(self, made_from): self.info = getattr(made_from, "info", None)
$base = np.arange(3.0)
$i = $Info($base, "note")
$matrix = np.asmatrix([[1, 2], [3, 4]]); $row = $matrix[0]
$masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
""",
        "($i.info, $base.__setitem__(0, 8), $i[0].item(), type($i) is $Info, $matrix.__setitem__((0, 0), 7), "
        " $row.tolist(), type($row).__name__, $masked.tolist())",
    ),
    Case(
        "masked array on an array",
        "$a = np.arange(3); $m = np.ma.array($a, mask=[0, 0, 1], copy=False)",
        "($a.__setitem__(0, 9), int($m[0]))",
        back=False,
    ),
    Case(
        "memory map",
        "$f = np.memmap('$f', np.uint8, 'w+', shape=(4,)); $f[0] = 3; $f.flush()",
        "($f.__setitem__(1, 5), $f.flush(), open('$f', 'rb').read(), $f.tolist())",
    ),
    Case("part of a mapped file", "$f = np.memmap('$f', np.uint8, 'w+', shape=(4,))[1:]", "int($f[0])", back=False),
    Case(
        "odd shapes",
        "$z, $e, $u, $s = np.array(5), np.zeros((0, 3)), np.array(['', '']), np.float64(2.5)\n"
        "$zv = $z[...]; $empty = $e[:, 1:]",
        "($e.shape, $u.tolist(), $s, $empty.shape, $z.__setitem__((), 6), $zv.item())",
    ),
    Case(
        "array with an odd order, and its view",
        "$a = np.zeros((2, 3, 4)).transpose(1, 0, 2).copy(order='K'); $v = $a[1:]",
        "($a.__setitem__((1, 0, 0), 5), float($v[0, 0, 0]))",
        back=False,
    ),
    Case(
        "random generators that share their bits",
        "$bits = np.random.PCG64(1); $g, $h = np.random.Generator($bits), np.random.Generator($bits)",
        "($g.bit_generator is $bits, $h.bit_generator is $bits)",
    ),
    Case("NaN of numpy", "$l = [np.nan]; $o = np.array([np.nan, 1], dtype=object)", "(np.nan in $l, $o[0] is np.nan)"),
    Case(
        "settings",
        "$old = np.seterr(divide='raise', over='ignore'); np.set_printoptions(precision=3); np.random.seed(1)",
        "(np.geterr()['divide'], np.get_printoptions()['precision'], np.random.get_state()[1][:3].tolist())",
    ),
    Case(
        "ufuncs, dtypes, vectorize",
        "$u = np.add; $d = np.dtype([('a', 'i4')]); $v = np.vectorize(lambda x: x + 1)",
        "($u is np.add, $d, $v([1]).tolist())",
    ),
]

PANDAS = [
    Case(
        "frames that copy when they are written to",
        """
$df = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "c": list("xyz")})
$part, $column, $whole = $df[:2], $df["a"], $df[:]
$indexed = $df.set_index("a")
$state = []
def $write():
    "What is written to one is not seen in another."
    if not $state:
        $part.iloc[0, 0] = 100
        $column.iloc[1] = 200
        $df.iloc[2, 1] = 300
    $state.append(1)
    return $df.to_dict("list"), $part.to_dict("list"), $column.tolist(), $whole.to_dict("list"), $indexed.index.tolist()
$twin = copy.copy($df)
""",
        "(lambda x, y: (x.iloc.__setitem__((0, 0), 55), $df.iloc[0, 0], y.iloc.__setitem__(0, 66), $df['a'].iloc[0],"
        " $column.iloc[0], $df.dtypes.astype(str).tolist()))($df[:], $df['a'])",
    ),
    Case(
        "writing to a frame that shared its memory, after",
        "$df = pd.DataFrame({'a': [1, 2, 3], 'b': [4, 5, 6]}); $part, $column = $df[:2], $df['a']\n"
        "$ix = pd.Index($column); $kept = $df.copy()",
        "($df.iloc.__setitem__((0, 0), 9), $part.iloc[0, 0], $column.iloc[0], $ix[0], $df.iloc[0, 0],"
        " $column.iloc.__setitem__(1, 8), $df.iloc[1, 0], $part.iloc[1, 0], $ix[1])",
    ),
    Case(
        "series on an array",
        "$a = np.arange(3.0); $s = pd.Series($a, copy=False)",
        "($a.__setitem__(0, 7.0), float($s.iloc[0]))",
    ),
    Case(
        "array of a frame",
        "$df = pd.DataFrame({'a': [1.0, 2.0]}); $v = $df.to_numpy()",
        "($df.iloc.__setitem__((0, 0), 7.0), float($v[0, 0]))",
    ),
    Case(
        "array with two series that copy",
        "$a = np.arange(3.0); $s = pd.Series($a, copy=False); $t = $s[:]",
        "($a.__setitem__(0, 7.0), float($s.iloc[0]), float($t.iloc[0]))",
    ),
    Case(
        "kinds of columns and indexes",
        """
$df = pd.DataFrame({"i": pd.array([1, None], dtype="Int64"), "c": pd.Categorical(["a", "b"]),
    "t": pd.to_datetime(["2020-01-01", None]), "z": pd.to_datetime(["2020-01-01"] * 2, utc=True), "s": ["x", None]},
    index=pd.MultiIndex.from_tuples([("p", 1), ("q", 2)], names=["l", "m"]))
$df.attrs["note"] = 1
$series, $index = $df["t"], $df.index
$p = pd.period_range("2020", periods=2, freq="M"); $iv = pd.interval_range(0, 2)
""",
        "($df.to_string(), $df.dtypes.astype(str).tolist(), $df.attrs, $index.names, $series.tolist(), $p, $iv)",
    ),
    Case(
        "group-by, accessor functions, apply",
        "$df = pd.DataFrame({'k': [1, 1, 2], 'v': [1, 2, 3]}); $g = $df.groupby('k'); $f = lambda x: x + 1",
        "($g.v.sum().tolist(), $df.v.map($f).tolist())",
    ),
]

TORCH = [
    Case(
        "tensors that share storage",
        "$t = torch.arange(6.0); $v = $t[2:]; $m = $t.view(2, 3); $l = [$t.t() if 0 else $t[::2]]",
        "($t.__setitem__(2, 9.0), float($v[0]), float($m[0, 2]), float($l[0][1]), $m.stride())",
    ),
    Case(
        "module with tied weights, and its optimizer",
        """
class $Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        self.b.weight = self.a.weight
    def forward(self, x): return self.b(self.a(x))
$net = $Net(); $opt = torch.optim.SGD($net.parameters(), lr=0.1)
$w = $net.a.weight.data
$net($w).sum().backward(); $opt.step()
""",
        "($net.a.weight is $net.b.weight, $opt.param_groups[0]['params'][0] is $net.a.weight,"
        " $w.__setitem__((0, 0), 4.0), float($net.a.weight[0, 0].detach()), $net.a.weight.grad.tolist())",
    ),
    Case("array of a tensor", "$t = torch.zeros(3); $a = $t.numpy()", "($t.__setitem__(1, 4.0), float($a[1]))"),
    Case(
        "tensor of an array",
        "$a = np.zeros(3); $t = torch.from_numpy($a)",
        "($a.__setitem__(1, 4.0), float($t[1]))",
        back=False,
    ),
    Case(
        "xarray, scipy, pyarrow, attrs",
        """
import xarray as $xr, scipy.sparse as $sp, pyarrow as $pa, attr as $attr
$n = np.arange(4.0); $da = $xr.DataArray($n, dims="x"); $csr = $sp.csr_array(np.eye(3)); $data = $csr.data
$table = $pa.table({"a": [1, 2]}); $slice = $table.slice(1)
@$attr.s(auto_attribs=True, slots=True)
class $At:
    x: int = 1
    y: list = $attr.Factory(list)
$at = $At(3)
""",
        "($n.__setitem__(1, 9.0), float($da[1]), $data.__setitem__(0, 5.0), float($csr[0, 0]), $slice.to_pydict(), $at,"
        " $At().y)",
    ),
    Case(
        "arrow array on an array",
        "import pyarrow as $pa\n$n = np.arange(4.0); $arrow = $pa.array($n)",
        "($n.__setitem__(1, 9.0), $arrow[1].as_py())",
        back=False,
    ),
    Case(
        "pydantic",
        """
import pydantic as $pydantic
class $M($pydantic.BaseModel):
    x: int
    y: list[int] = []
    @$pydantic.field_validator("x")
    @classmethod
    def positive(cls, v): return abs(v)
class $N($M):
    m: $M
$m = $N(x="-3", m=dict(x=1))
""",
        "($m, $N(x=4, m=$M(x=-2)).model_dump(), type($m.m) is $M)",
    ),
]
