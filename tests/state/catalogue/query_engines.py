"""duckdb and polars: engines with threads of their own, of which one goes on after a fork and the other does not."""

from tests.state.catalogue.entry import NO_VALUE, SETTING, Entry, Library

DUCKDB = Library(
    "duckdb",
    environment="heavy",
    modules=("duckdb",),
    note="It goes on in one thread until its number of threads is set anew: `set threads = 1`, then `set threads = 4`.",
    setup="""
import os, tempfile
import duckdb

place = tempfile.TemporaryDirectory()

def connected(where):
    connection = duckdb.connect(where)
    connection.execute("create table t as select range as n, range % 7 as k from range(500_000)")
    return connection
""",
    entries=(
        Entry(
            "DuckDBPyConnection (in memory)",
            "x = connected(':memory:')",
            "x.sql('select k, sum(n) from t group by k order by k').fetchall()",
        ),
        Entry(
            "DuckDBPyConnection (of a file)",
            "x = connected(os.path.join(place.name, 'd.duckdb'))",
            "x.sql('select count(*) from t where n % 3 = 0').fetchall()",
        ),
        Entry(
            "DuckDBPyRelation",
            "kept = connected(':memory:'); x = kept.table('t').filter('n < 10')",
            "x.aggregate('sum(n)').fetchall()",
        ),
        Entry(
            "result (begun)",
            "x = connected(':memory:').execute('select n from t order by n'); x.fetchmany(2)",
            "x.fetchmany(3)",
        ),
        Entry(
            "connection in a transaction",
            "x = connected(':memory:'); x.begin(); x.execute('delete from t where n > 9')",
            "x.sql('select count(*) from t').fetchall()",
        ),
        Entry(
            "the default connection",
            "duckdb.sql('create table d as select 5 as v'); x = duckdb",
            "x.sql('select v from d').fetchall()",
            untold=SETTING,
        ),
        Entry("Expression", "x = duckdb.ColumnExpression('n') + 1", "str(x)"),
        Entry("DuckDBPyType", "x = duckdb.list_type('integer') if hasattr(duckdb, 'list_type') else None", "str(x)"),
    ),
)

POLARS = Library(
    "polars",
    environment="heavy",
    modules=("polars",),
    back="by_value",
    setup="""
import polars as pl

frame = pl.DataFrame({"key": ["a", "b", "c"] * 20_000, "value": range(60_000)})
_ = frame.group_by("key").agg(pl.col("value").sum())
""",
    entries=(
        Entry("DataFrame", "x = frame", "x.group_by('key').agg(pl.col('value').sum()).sort('key').to_dicts()"),
        Entry("Series", "x = frame['value']", "x.sum()"),
        Entry("LazyFrame", "x = frame.lazy().filter(pl.col('value') > 59_990)", "x.collect().height"),
        Entry("Expr", "x = pl.col('value') * 2", "frame.select(x.max()).item()"),
        Entry("Categorical series", "x = pl.Series(['a', 'b', 'a'], dtype=pl.Categorical)", "x.to_list()"),
        Entry("List series", "x = pl.Series([[1, 2], [3]])", "x.list.sum().to_list()"),
        Entry("Struct series", "x = pl.Series([{'a': 1}, {'a': 2}])", "x.struct.field('a').to_list()"),
        Entry("Schema", "x = frame.schema", "x.names()"),
        Entry("DataType", "x = pl.Datetime('ms', 'Europe/Vienna')", "str(x)"),
        Entry("Enum type", "x = pl.Enum(['a', 'b'])", "pl.Series(['b'], dtype=x).to_list()"),
        Entry("GroupBy", "x = frame.group_by('key')", "x.agg(pl.col('value').max()).height"),
        Entry(
            "SQLContext",
            "x = pl.SQLContext(frame=frame)",
            "x.execute('select max(value) as m from frame').collect().item()",
            "not",
            NO_VALUE,
        ),
    ),
)
