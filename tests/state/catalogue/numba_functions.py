"""numba: compiled functions and typed containers; its OpenMP threads do not go on after a fork."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

NUMBA = Library(
    "numba",
    environment="heavy",
    modules=("numba",),
    back="by_value",
    setup="""
import numpy as np, numba

@numba.njit(parallel=True)
def parallel_sum(values):
    total = 0.0
    for index in numba.prange(values.size):
        total += values[index]
    return total

@numba.guvectorize(["(float64[:], float64[:])"], "(n)->()")
def summed(values, result):
    result[0] = 0.0
    for value in values:
        result[0] += value

numbers = np.arange(100_000.0)
_ = parallel_sum(numbers)
layer = numba.threading_layer()
""",
    entries=(
        Entry("parallel function", "x = parallel_sum", "round(x(numbers), 3)"),
        Entry("compiled function", "x = numba.njit(lambda a: a * 2)", "x(21)"),
        Entry("ufunc", "x = numba.vectorize(['float64(float64)'])(lambda a: a + 1)", "float(x(numbers).sum())"),
        Entry("guvectorize", "x = summed", "float(x(numbers))"),
        Entry("typed.List", "x = numba.typed.List([1, 2, 3])", "sum(x)", "not", NO_VALUE),
        Entry(
            "typed.Dict",
            "x = numba.typed.Dict.empty(numba.types.int64, numba.types.float64); x[1] = 2.5",
            "dict(x)",
            "not",
            NO_VALUE,
        ),
        Entry("type", "x = numba.float64[:, ::1]", "str(x)"),
    ),
)
