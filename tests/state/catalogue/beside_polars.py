"""What by value means for everything else: objects of the language in a session that used polars."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

BESIDE_POLARS = Library(
    "anything beside polars, by value",
    environment="heavy",
    modules=("polars",),
    back="by_value",
    setup="""
import collections, dataclasses, functools, io, os, random, re, sqlite3, tempfile, threading
import numpy as np, pandas as pd, polars as pl
from decimal import Decimal as Exact

_ = pl.DataFrame({"a": range(50_000)}).select(pl.col("a").sum())

@dataclasses.dataclass
class Reading:
    value: float
    def twice(self):
        return self.value * 2

def counting():
    number = 0
    while True:
        number += 1
        yield number

def scaled(factor):
    return lambda value: value * factor
""",
    entries=(
        Entry("int", "x = 3 ** 500", "x % 1000"),
        Entry("dict of lists", "x = {'a': [1, 2]}", "x['a'][1]"),
        Entry("list (in itself)", "x = [1]; x.append(x)", "x[1] is x"),
        Entry("module", "x = re", "x.findall('a', 'aba')"),
        Entry("name of another module", "x = Exact", "x('1.5')"),
        Entry("function of the session", "def x(a): return scaled(2)(a)", "x(4)"),
        Entry("closure", "x = scaled(3)", "x(4)"),
        Entry("class of the session", "x = Reading", "x(2.0).twice()"),
        Entry("instance of a class of the session", "x = Reading(1.5)", "x.twice()"),
        Entry("bound method", "x = Reading(2.5).twice", "x()"),
        Entry("functools.partial", "x = functools.partial(int, base=2)", "x('11')"),
        Entry("collections.Counter", "x = collections.Counter('aab')", "x['a']"),
        Entry("numpy.ndarray", "x = np.arange(1000.0)", "float(x.sum())"),
        Entry("numpy.random.Generator", "x = np.random.default_rng(1)", "x.random()"),
        Entry("pandas.DataFrame", "x = pd.DataFrame({'a': [1, 2]})", "int(x.a.sum())"),
        Entry("re.Pattern", "x = re.compile('a+')", "x.findall('aab')"),
        Entry("random.Random", "x = random.Random(3)", "x.random()"),
        Entry("io.BytesIO", "x = io.BytesIO(b'abcdef'); x.seek(1)", "x.read(2)"),
        Entry("os.environ", "os.environ['MADE'] = 'here'; x = os.environ", "x['MADE']"),
        Entry("generator (begun)", "x = counting(); next(x)", "next(x)", "not", NO_VALUE),
        Entry("threading.Lock", "x = threading.Lock()", "x.locked()"),
        Entry("open file", "x = tempfile.TemporaryFile()", "x.write(b'a')", "not", NO_VALUE),
        Entry(
            "sqlite3.Connection", "x = sqlite3.connect(':memory:')", "x.execute('select 1').fetchone()", "not", NO_VALUE
        ),
        Entry(
            "memoryview",
            "x = memoryview(b'abc')",
            "x.tolist()",
            "not",
            "it is a view of another object's memory",
        ),
    ),
)
