"""pandas: tables, indexes, and computations that were begun."""

from tests.state.catalogue.entry import Entry, Library

PANDAS = Library(
    "pandas",
    environment="data",
    modules=("pandas",),
    setup="""
import io
import numpy as np, pandas as pd

table = pd.DataFrame({"key": list("abcab") * 200, "value": np.arange(1000.0)})
days = pd.date_range("2024-01-01", periods=1000, freq="h", tz="Europe/Vienna")
text = "a,b\\n" + "\\n".join(f"{number},{number * 2}" for number in range(100))
""",
    entries=(
        Entry("DataFrame", "x = table.copy()", "x.groupby('key').value.sum().to_dict()"),
        Entry("Series", "x = table.value.copy()", "float(x.rolling(5).mean().sum())"),
        Entry("Series of text", "x = pd.Series(['a', None, 'c'], dtype='str')", "x.str.upper().tolist()"),
        Entry("Series of nullable numbers", "x = pd.Series([1, None, 3], dtype='Int64')", "int(x.sum())"),
        Entry("Categorical", "x = pd.Categorical(list('abca'), ordered=True)", "x.codes.tolist()"),
        Entry("SparseArray", "x = pd.arrays.SparseArray([0, 0, 1, 2])", "int(x.sum())"),
        Entry("MultiIndex", "x = pd.MultiIndex.from_product([[1, 2], ['a', 'b']])", "x.get_loc((2, 'a'))"),
        Entry("DatetimeIndex", "x = days.copy()", "str(x[-1])"),
        Entry("PeriodIndex", "x = pd.period_range('2024-01', periods=3, freq='M')", "str(x[-1] + 1)"),
        Entry("IntervalIndex", "x = pd.interval_range(0, 5)", "x.get_loc(2.5)"),
        Entry("Timestamp", "x = pd.Timestamp('2024-03-31 01:30', tz='Europe/Vienna')", "str(x + pd.Timedelta('1h'))"),
        Entry("Timedelta", "x = pd.Timedelta('3 days')", "x.total_seconds()"),
        Entry("DataFrameGroupBy", "x = table.groupby('key')", "x.value.mean().to_dict()"),
        Entry("Rolling", "x = table.value.rolling(10)", "float(x.max().sum())"),
        Entry("Resampler", "x = pd.Series(range(1000), index=days).resample('D')", "int(x.sum().iloc[3])"),
        Entry("Index engine (warm)", "x = pd.Index(range(0, 1000, 2)); x.get_loc(4)", "x.get_indexer([8, 9]).tolist()"),
        Entry(
            "TextFileReader (begun)",
            "x = pd.read_csv(io.StringIO(text), chunksize=10); next(x)",
            "int(next(x).b.sum())",
        ),
        Entry("offsets.BusinessDay", "x = pd.offsets.BusinessDay(2)", "str(pd.Timestamp('2024-03-01') + x)"),
    ),
)
