"""Values and tools of the standard library that hold nothing of the system."""

from tests.state.catalogue.entry import Entry, Library

CONTAINERS = Library(
    "standard library: containers and values",
    setup="""
import array, collections, dataclasses, datetime, decimal, enum, fractions, heapq, ipaddress, pathlib
import statistics, types, uuid, weakref, zoneinfo

Pair = collections.namedtuple("Pair", "left right")

@dataclasses.dataclass(order=True)
class Reading:
    value: float
    tags: list = dataclasses.field(default_factory=list)

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
""",
    entries=(
        Entry("collections.deque", "x = collections.deque([1, 2, 3], maxlen=3)", "x.append(4) or list(x)"),
        Entry("collections.Counter", "x = collections.Counter('mississippi')", "x.most_common(2)"),
        Entry("collections.OrderedDict", "x = collections.OrderedDict(a=1, b=2)", "x.move_to_end('a') or list(x)"),
        Entry("collections.defaultdict", "x = collections.defaultdict(list)", "x['new'].append(1) or dict(x)"),
        Entry("collections.ChainMap", "x = collections.ChainMap({'a': 1}, {'a': 2, 'b': 3})", "x['a'] + x['b']"),
        Entry("named tuple", "x = Pair(1, 2)", "x._replace(right=5)"),
        Entry("dataclass", "x = Reading(1.5, ['a'])", "x < Reading(2.0) and dataclasses.asdict(x)"),
        Entry("enum.Enum", "x = Colour.RED", "x is Colour(1)"),
        Entry("enum.Flag", "x = Access.READ | Access.WRITE", "Access.READ in x"),
        Entry("array.array", "x = array.array('d', range(1000))", "sum(x)"),
        Entry("heap", "x = [5, 1, 4]; heapq.heapify(x)", "heapq.heappushpop(x, 9)"),
        Entry(
            "datetime.datetime with a zone",
            "x = datetime.datetime(2024, 3, 31, 1, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))",
            "x.isoformat()",
        ),
        Entry("datetime.timedelta", "x = datetime.timedelta(days=3, microseconds=7)", "(x * 2).total_seconds()"),
        Entry("decimal.Decimal", "x = decimal.Decimal('1.10')", "x * 3"),
        Entry("decimal.Context", "x = decimal.Context(prec=5)", "x.divide(1, 3)"),
        Entry("fractions.Fraction", "x = fractions.Fraction(1, 3)", "x + x"),
        Entry("uuid.UUID", "x = uuid.UUID(int=7)", "str(x)"),
        Entry("pathlib.Path", "x = pathlib.Path('/') / 'a' / 'b.txt'", "x.with_suffix('.md').parts"),
        Entry("ipaddress.IPv4Network", "x = ipaddress.ip_network('10.0.0.0/29')", "len(list(x.hosts()))"),
        Entry("statistics.NormalDist", "x = statistics.NormalDist(10, 2)", "round(x.cdf(12), 9)"),
        Entry("types.SimpleNamespace", "x = types.SimpleNamespace(a=1)", "vars(x)"),
        Entry("types.MappingProxyType", "x = types.MappingProxyType({'a': 1})", "x['a']"),
        Entry(
            "weakref.WeakValueDictionary",
            "held = Reading(3.0); x = weakref.WeakValueDictionary(a=held)",
            "x['a'] is held",
        ),
    ),
)

TOOLS = Library(
    "standard library: tools",
    setup="""
import argparse, ast, configparser, contextlib, contextvars, csv, email.message, functools, graphlib, hashlib, hmac
import http.cookies, inspect, io, itertools, json, logging, operator, random, re, string, struct, urllib.parse
import xml.etree.ElementTree as ElementTree, zlib

class Lazy:
    @functools.cached_property
    def value(self):
        return 42

@functools.singledispatch
def describe(value):
    return "thing"

@describe.register
def _(value: int):
    return "number"
""",
    entries=(
        Entry("re.Pattern", "x = re.compile(r'(?P<word>\\w+)')", "x.findall('two words')"),
        Entry("re.Match", "x = re.match(r'(\\d+)-(\\d+)', '12-34')", "x.groups()"),
        Entry("struct.Struct", "x = struct.Struct('<hI')", "x.pack(1, 2)"),
        Entry("itertools.count (begun)", "x = itertools.count(5); next(x)", "next(x)"),
        Entry("itertools.tee (begun)", "x = itertools.tee(iter(range(50))); next(x[0])", "(next(x[0]), next(x[1]))"),
        Entry("itertools.groupby (begun)", "x = itertools.groupby('aabbccdd'); next(x)", "next(x)[0]"),
        Entry("itertools.permutations (begun)", "x = itertools.permutations(range(5)); next(x)", "next(x)"),
        Entry("functools.partial", "x = functools.partial(int, base=2)", "x('101')"),
        Entry(
            "functools.lru_cache",
            "@functools.lru_cache\ndef x(n): return n * n\nx(3); x(3)",
            "(x(3), x.cache_info().hits)",
        ),
        Entry("functools.cached_property", "x = Lazy(); x.value", "vars(x)"),
        Entry("functools.singledispatch", "x = describe", "(x(1), x('a'))"),
        Entry("operator.itemgetter", "x = operator.itemgetter(1, 'a')", "x({1: 2, 'a': 3})"),
        Entry("random.Random", "x = random.Random(7); x.random()", "x.random()"),
        Entry("random (its own state)", "random.seed(11); x = random", "x.random()"),
        Entry("hashlib (begun)", "x = hashlib.sha256(b'one')", "x.update(b'two') or x.hexdigest()"),
        Entry("hmac (begun)", "x = hmac.new(b'key', b'one', 'sha256')", "x.update(b'two') or x.hexdigest()"),
        Entry("zlib.compressobj (begun)", "x = zlib.compressobj(); x.compress(b'a' * 99)", "x.compress(b'b' * 99)"),
        Entry("zlib.decompressobj", "x = zlib.decompressobj(); x.decompress(zlib.compress(b'ab'))", "x.eof"),
        Entry("json.JSONEncoder", "x = json.JSONEncoder(sort_keys=True)", "x.encode({'b': 1, 'a': 2})"),
        Entry("csv.reader (begun)", "x = csv.reader(io.StringIO('a,b\\nc,d\\ne,f\\n')); next(x)", "next(x)"),
        Entry("csv.writer", "sheet = io.StringIO(); x = csv.writer(sheet)", "(x.writerow([1, 'b']), sheet.getvalue())"),
        Entry("string.Template", "x = string.Template('$who')", "x.substitute(who='you')"),
        Entry("contextvars.ContextVar", "x = contextvars.ContextVar('x'); x.set(5)", "x.get()"),
        Entry("contextvars.Context", "x = contextvars.copy_context()", "x.run(lambda: 8)"),
        Entry("contextlib.ExitStack", "x = contextlib.ExitStack(); x.callback(len, 'a')", "x.close()"),
        Entry("ast.Module", "x = ast.parse('a + 1')", "ast.unparse(x)"),
        Entry("inspect.Signature", "x = inspect.signature(describe)", "str(x)"),
        Entry(
            "argparse.ArgumentParser",
            "x = argparse.ArgumentParser(); x.add_argument('n', type=int)",
            "x.parse_args(['4']).n",
        ),
        Entry(
            "configparser.ConfigParser",
            "x = configparser.ConfigParser(); x.read_string('[a]\\nb = 1')",
            "x.getint('a', 'b')",
        ),
        Entry("logging.Logger", "x = logging.getLogger('made'); x.setLevel(33)", "x.getEffectiveLevel()"),
        Entry("ElementTree.Element", "x = ElementTree.fromstring('<a><b n=\"1\"/></a>')", "x.find('b').get('n')"),
        Entry(
            "ElementTree.XMLPullParser (begun)",
            "x = ElementTree.XMLPullParser(['start']); x.feed('<a><b>')",
            "x.feed('<c>') or [tag.tag for _, tag in x.read_events()]",
        ),
        Entry("http.cookies.SimpleCookie", "x = http.cookies.SimpleCookie('a=1')", "x['a'].value"),
        Entry(
            "email.message.EmailMessage",
            "x = email.message.EmailMessage(); x['To'] = 'you'; x.set_content('hi')",
            "x.as_string()",
        ),
        Entry("urllib.parse.SplitResult", "x = urllib.parse.urlsplit('http://a.test/b?c=1')", "x.query"),
        Entry(
            "graphlib.TopologicalSorter (begun)",
            "x = graphlib.TopologicalSorter({'b': ['a'], 'c': ['b']}); x.prepare()",
            "[x.done(name) or name for name in x.get_ready()]",
        ),
    ),
)
