"""Databases inside the process, tables in files, and indexes for text and vectors."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

_PLACE = """
import os, tempfile

place = tempfile.TemporaryDirectory()

def at(name):
    return os.path.join(place.name, name)
"""

LMDB = Library(
    "lmdb",
    environment="state",
    modules=("lmdb",),
    setup=_PLACE
    + """
import lmdb

def filled(name):
    made = lmdb.open(at(name), map_size=1 << 24, max_dbs=2)
    with made.begin(write=True) as change:
        for number in range(50):
            change.put(b"%03d" % number, b"v%d" % number)
    return made

def stored(made):
    with made.begin(write=True) as change:
        change.put(b"new", b"value")
    with made.begin() as reading:
        return reading.get(b"new")
""",
    entries=(
        Entry("Environment", "x = filled('a')", "stored(x)"),
        Entry("Transaction (reading)", "x = filled('b').begin()", "x.get(b'007')"),
        Entry("Transaction (writing)", "x = filled('c').begin(write=True); _ = x.put(b'w', b'1')", "x.get(b'w')"),
        Entry("Cursor (begun)", "x = filled('d').begin().cursor(); _ = x.first()", "(x.next(), x.key())"),
        Entry("named database", "held = filled('e'); x = held.open_db(b'n')", "held.begin().stat(x)['entries']"),
    ),
)

HALF_WRITTEN = "kuzu itself writes half of it down, and raises nothing"

KUZU = Library(
    "kuzu",
    environment="catalogue",
    modules=("kuzu",),
    back="by_value",
    setup=_PLACE
    + """
import kuzu

def base(name):
    made = kuzu.Database(at(name), buffer_pool_size=1 << 26)
    connection = kuzu.Connection(made, num_threads=2)
    connection.execute("create node table P (name string primary key, age int64)")
    connection.execute("create (:P {name: 'a', age: 3}), (:P {name: 'b', age: 4})")
    return made, connection

_ = base("first")
""",
    entries=(
        Entry(
            "Database",
            "x = base('a')[0]",
            "kuzu.Connection(x).execute('match (p:P) return sum(p.age)').get_next()",
            "not",
            NO_VALUE,
            HALF_WRITTEN,
        ),
        Entry(
            "Connection",
            "x = base('b')[1]",
            "x.execute('match (p:P) return count(*)').get_next()",
            "not",
            NO_VALUE,
            HALF_WRITTEN,
        ),
        Entry(
            "QueryResult (begun)",
            "held = base('c')[1]; x = held.execute('unwind range(1, 20) as n return n'); _ = x.get_next()",
            "x.get_next()",
            "not",
            NO_VALUE,
        ),
        Entry("rows of it", "x = base('d')[1].execute('match (p:P) return p.name order by p.name').get_next()", "x"),
    ),
)

CHDB = Library(
    "chdb",
    environment="catalogue",
    modules=("chdb",),
    back="by_value",
    setup=_PLACE
    + """
import chdb.session

# There is one at a time in a process, whatever asks.
session = chdb.session.Session(at("s"))
_ = session.query("select sum(number) from numbers(1000000)", "CSV")
""",
    entries=(
        Entry("Session", "x = session", "str(x.query('select 1 + 1', 'CSV'))", "not", NO_VALUE),
        Entry("result", "x = session.query('select 5', 'CSV')", "str(x)", "not", NO_VALUE),
        Entry("text of a result", "x = str(session.query('select 5', 'CSV'))", "x"),
    ),
)

STORES = Library(
    "rocksdict and plyvel",
    environment="catalogue",
    modules=("rocksdict", "plyvel"),
    back="by_value",
    setup=_PLACE
    + """
import plyvel, rocksdict

def level(name):
    made = plyvel.DB(at(name), create_if_missing=True)
    for number in range(20):
        made.put(b"%03d" % number, b"v")
    return made

def rocks(name):
    made = rocksdict.Rdict(at(name))
    for number in range(20):
        made[number] = number * 2
    made.flush()
    return made

def compacted(made):
    made.compact_range(None, None)
    return made[7]
""",
    entries=(
        Entry("rocksdict.Rdict", "x = rocks('a')", "compacted(x)", "not", NO_VALUE),
        Entry(
            "rocksdict.RdictIter",
            "held = rocks('b'); x = held.iter(); x.seek_to_first()",
            "(x.next(), x.key())",
            "not",
            NO_VALUE,
        ),
        Entry("rocksdict.Options", "x = rocksdict.Options()", "type(x).__name__", "not", NO_VALUE),
        Entry(
            "plyvel.DB",
            "x = level('c')",
            "(x.put(b'n', b'1', sync=True), x.compact_range(), x.get(b'n'))",
            "not",
            NO_VALUE,
        ),
        Entry(
            "plyvel iterator (begun)",
            "held_level = level('d'); x = held_level.iterator(); _ = next(x)",
            "next(x)",
            "not",
            NO_VALUE,
        ),
        Entry("plyvel.Snapshot", "held_too = level('e'); x = held_too.snapshot()", "x.get(b'003')", "not", NO_VALUE),
    ),
)

LANCEDB = Library(
    "lancedb",
    environment="catalogue",
    modules=("lancedb",),
    back="not",
    setup=_PLACE
    + """
import lancedb

base = lancedb.connect(at("lance"))
table = base.create_table("t", [{"vector": [float(n), 1.0], "n": n} for n in range(50)])

def nearest(made):
    return made.search([7.1, 1.0]).limit(1).to_list()[0]["n"]
""",
    entries=(
        Entry("LanceDBConnection", "x = base", "nearest(x.open_table('t'))", because=NO_VALUE),
        Entry("LanceTable", "x = table", "(nearest(x), x.count_rows())", because=NO_VALUE),
        Entry("query", "x = table.search([3.0, 1.0]).limit(2)", "[row['n'] for row in x.to_list()]", because=NO_VALUE),
    ),
)

LAKES = Library(
    "deltalake and datafusion",
    environment="catalogue",
    modules=("deltalake", "datafusion", "pyarrow"),
    back="by_value",
    setup=_PLACE
    + """
import datafusion, deltalake, pyarrow as pa

rows = pa.table({"n": list(range(100))})

def lake(name):
    deltalake.write_deltalake(at(name), rows)
    return deltalake.DeltaTable(at(name))

def session():
    made = datafusion.SessionContext()
    made.from_arrow(rows, "t")
    return made
""",
    entries=(
        Entry(
            "DeltaTable",
            "x = lake('a')",
            "x.to_pyarrow_table().num_rows if hasattr(x, 'to_pyarrow_table') else x.version()",
            "not",
            NO_VALUE,
        ),
        Entry("DeltaTable (its path)", "x = lake('b').table_uri", "deltalake.DeltaTable(x).version()"),
        Entry("SessionContext", "x = session()", "x.sql('select sum(n) as s from t').to_pydict()", "not", NO_VALUE),
        Entry("datafusion.DataFrame", "x = session().sql('select n from t where n < 3')", "x.count()", "not", NO_VALUE),
        Entry("datafusion.Expr", "x = datafusion.col('n') + datafusion.lit(1)", "str(x)"),
        Entry("pyarrow.Table beside them", "x = rows", "x.num_rows"),
    ),
)

CONNECTORX = Library(
    "connectorx",
    back="by_value",
    environment="catalogue",
    modules=("connectorx", "pandas"),
    setup=_PLACE
    + """
import sqlite3
import connectorx

base = sqlite3.connect(at("a.sqlite"))
_ = base.execute("create table t (n integer)")
_ = base.executemany("insert into t values (?)", [(number,) for number in range(100)])
base.commit()
address = "sqlite://" + at("a.sqlite")

def read(query):
    return int(connectorx.read_sql(address, query, partition_on="n", partition_num=2).n.sum())
""",
    entries=(
        Entry("read_sql", "x = read", "x('select n from t')"),
        Entry("what it read", "x = connectorx.read_sql(address, 'select n from t where n < 9')", "int(x.n.sum())"),
    ),
)

TANTIVY = Library(
    "tantivy",
    environment="state",
    modules=("tantivy",),
    back="by_value",
    setup=_PLACE
    + """
import tantivy

def schema():
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=True)
    return builder.build()

def index():
    made = tantivy.Index(schema())
    writer = made.writer(40_000_000, 2)
    for text in ("a red fox", "a grey wolf", "a red deer"):
        writer.add_document(tantivy.Document(body=[text]))
    writer.commit()
    made.reload()
    return made, writer

def found(made, word="red"):
    return made.searcher().search(made.parse_query(word, ["body"]), 5).count

def added(made, writer):
    writer.add_document(tantivy.Document(body=["one more fox"]))
    writer.commit()
    made.reload()
    return made.searcher().num_docs
""",
    entries=(
        Entry("Index", "x = index()[0]", "found(x)", "not", NO_VALUE),
        Entry("IndexWriter", "x = index()", "added(*x)", "not", NO_VALUE),
        Entry("Searcher", "x = index()[0].searcher()", "x.num_docs", "not", NO_VALUE),
        Entry("Document", "x = tantivy.Document(body=['a'])", "x['body']"),
        Entry("Schema", "x = schema()", "type(x).__name__"),
    ),
)

_VECTORS = """
import numpy as np

vectors = np.random.default_rng(3).random((2000, 16), dtype="f4")
"""

FAISS = Library(
    "faiss",
    environment="catalogue",
    modules=("faiss", "numpy"),
    setup=_VECTORS
    + """
import faiss

faiss.omp_set_num_threads(2)

def flat(kind=faiss.IndexFlatL2):
    made = kind(16)
    made.add(vectors)
    return made

def cells():
    made = faiss.IndexIVFFlat(faiss.IndexFlatL2(16), 16, 8)
    made.train(vectors)
    made.add(vectors)
    return made
""",
    entries=(
        Entry("IndexFlatL2", "x = flat()", "x.search(vectors[:50], 1)[1].sum().item()"),
        Entry("IndexIVFFlat", "x = cells()", "x.search(vectors[:50], 1)[1].sum().item()"),
        Entry(
            "IndexHNSWFlat",
            "x = flat(lambda d: faiss.IndexHNSWFlat(d, 8))",
            "x.search(vectors[:50], 1)[1][0, 0].item()",
        ),
        Entry(
            "Kmeans",
            "x = faiss.Kmeans(16, 4, niter=3, seed=2); _ = x.train(vectors)",
            "x.index.search(vectors[:5], 1)[1].sum().item()",
        ),
    ),
)

HNSWLIB = Library(
    "hnswlib",
    back="by_value",
    environment="catalogue",
    modules=("hnswlib", "numpy"),
    setup=_VECTORS
    + """
import hnswlib

def small_world():
    made = hnswlib.Index("l2", 16)
    made.init_index(2000, random_seed=1)
    made.set_num_threads(2)
    made.add_items(vectors)
    return made
""",
    entries=(
        Entry("Index", "x = small_world()", "x.knn_query(vectors[:50], 1)[0].sum().item()"),
        Entry(
            "BFIndex",
            "x = hnswlib.BFIndex('l2', 16); x.init_index(2000); x.add_items(vectors)",
            "x.knn_query(vectors[:5], 1)[0].sum().item()",
            back="not",
            because=NO_VALUE,
        ),
    ),
)

USEARCH = Library(
    "usearch",
    environment="catalogue",
    modules=("usearch", "numpy"),
    setup=_VECTORS
    + """
import usearch.index

def quick():
    made = usearch.index.Index(ndim=16, metric="l2sq")
    made.add(np.arange(2000), vectors, threads=2)
    return made
""",
    entries=(
        Entry("Index", "x = quick()", "int(x.search(vectors[7], 1).keys[0])"),
        Entry("Matches", "x = quick().search(vectors[9], 2)", "int(x.keys[0])"),
    ),
)

DATABASES_AND_SEARCH = (LMDB, KUZU, CHDB, STORES, LANCEDB, LAKES, CONNECTORX, TANTIVY, FAISS, HNSWLIB, USEARCH)
