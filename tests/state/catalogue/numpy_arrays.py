"""numpy: arrays, generators of numbers, and what is made of functions."""

from tests.state.catalogue.entry import Entry, Library

NUMPY = Library(
    "numpy",
    environment="data",
    modules=("numpy",),
    setup="""
import tempfile
import numpy as np

def mapped():
    made = np.memmap(tempfile.TemporaryFile(), dtype=np.int64, mode="w+", shape=(100,))
    made[:] = np.arange(100)
    return made
""",
    entries=(
        Entry(
            "ndarray (large)",
            "x = np.arange(640_000, dtype=float).reshape(800, 800) / 1e6",
            "round(float((x @ x.T).trace()), 6)",
        ),
        Entry("ndarray (view)", "x = np.arange(100)[::7]", "(int(x.sum()), x.shape)"),
        Entry("ndarray of a record type", "x = np.array([(1, 2.5)], dtype=[('a', 'i4'), ('b', 'f8')])", "x['b'].sum()"),
        Entry("ndarray of objects", "x = np.array([{'a': 1}, [2]], dtype=object)", "x.tolist()"),
        Entry(
            "ndarray of text",
            "x = np.array(['a', 'bc'], dtype=np.dtypes.StringDType())",
            "np.strings.upper(x).tolist()",
        ),
        Entry(
            "ndarray of times", "x = np.array(['2024-02-28'], dtype='datetime64[D]')", "str(x + np.timedelta64(2, 'D'))"
        ),
        Entry("ma.MaskedArray", "x = np.ma.masked_greater(np.arange(10), 5)", "int(x.sum())"),
        Entry("memmap", "x = mapped()", "int(x.sum())"),
        Entry("random.Generator", "x = np.random.default_rng(3); x.random()", "x.random()"),
        Entry("random.RandomState", "x = np.random.RandomState(3); x.rand()", "x.rand()"),
        Entry("random (its own state)", "np.random.seed(5); x = np.random", "x.rand()"),
        Entry("polynomial.Polynomial", "x = np.polynomial.Polynomial([1, 2, 3])", "x(2.0)"),
        Entry("nditer (begun)", "x = np.nditer(np.arange(9)); next(x)", "int(next(x))"),
        Entry("ufunc of a function", "x = np.frompyfunc(lambda a, b: a * b, 2, 1)", "x([1, 2], [3, 4]).tolist()"),
        Entry("vectorize", "x = np.vectorize(lambda a: a + 1)", "x([1, 2]).tolist()"),
        Entry("dtype", "x = np.dtype([('a', '<i4', (2,))])", "x.itemsize"),
        Entry("scalar", "x = np.float32(0.1)", "float(x * 3)"),
        Entry("linalg.SVDResult", "x = np.linalg.svd(np.diag([3.0, 2.0]))", "x.S.tolist()"),
    ),
)
