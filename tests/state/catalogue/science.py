"""sympy, networkx, xarray, statsmodels and seaborn."""

from tests.state.catalogue.entry import Entry, Library

SYMPY = Library(
    "sympy",
    environment="heavy",
    modules=("sympy",),
    setup="import sympy\na, b = sympy.symbols('a b')\nf = sympy.Function('f')",
    entries=(
        Entry("Symbol", "x = a", "str(x + x)"),
        Entry("Expr", "x = (a + b) ** 5", "str(x.expand().coeff(a, 2))"),
        Entry("Matrix", "x = sympy.Matrix([[1, a], [a, 1]])", "str(x.det())"),
        Entry("Integral", "x = sympy.Integral(sympy.sin(a), (a, 0, sympy.pi))", "str(x.doit())"),
        Entry("Poly", "x = sympy.Poly(a**2 - 1, a)", "str(x.factor_list())"),
        Entry("Eq", "x = sympy.Eq(f(a).diff(a), f(a))", "str(sympy.dsolve(x))"),
        Entry("FiniteSet", "x = sympy.FiniteSet(1, 2) | sympy.Interval(5, 6)", "str(x.measure)"),
        Entry("lambdify", "x = sympy.lambdify(a, a**2 + 1, 'math')", "x(3)"),
    ),
)

NETWORKX = Library(
    "networkx",
    environment="heavy",
    modules=("networkx",),
    setup="import networkx as nx",
    entries=(
        Entry("Graph", "x = nx.karate_club_graph()", "nx.shortest_path_length(x, 0, 33)"),
        Entry("DiGraph", "x = nx.DiGraph([(1, 2), (2, 3)])", "list(nx.topological_sort(x))"),
        Entry("MultiGraph", "x = nx.MultiGraph([(1, 2), (1, 2)])", "x.number_of_edges(1, 2)"),
        Entry("subgraph view", "whole = nx.path_graph(9); x = whole.subgraph([1, 2, 3])", "list(x.edges)"),
        Entry("edge view", "x = nx.path_graph(4).edges", "sorted(x)"),
        Entry("search (begun)", "x = nx.bfs_edges(nx.path_graph(9), 0); next(x)", "next(x)"),
    ),
)

XARRAY = Library(
    "xarray",
    environment="heavy",
    modules=("xarray",),
    setup="import numpy as np, xarray as xr\ngrid = xr.DataArray(np.arange(12.0).reshape(3, 4), dims=('t', 'p'))",
    entries=(
        Entry("DataArray", "x = grid", "float(x.mean('t').sum())"),
        Entry("Dataset", "x = xr.Dataset({'g': grid})", "float(x.g.sel(t=1).sum())"),
        Entry("DataArrayGroupBy", "x = grid.assign_coords(t=[0, 0, 1]).groupby('t')", "float(x.sum().sum())"),
    ),
)

STATSMODELS = Library(
    "statsmodels",
    environment="heavy",
    modules=("statsmodels",),
    setup="""
import numpy as np, statsmodels.api as sm
from statsmodels.tsa.arima.model import ARIMA
series = np.cumsum(np.random.default_rng(6).random(60))
""",
    entries=(
        Entry("OLS", "x = sm.OLS(series, sm.add_constant(np.arange(60.0)))", "round(float(x.fit().rsquared), 9)"),
        Entry("RegressionResults", "x = sm.OLS(series, np.arange(60.0)).fit()", "round(float(x.params[0]), 9)"),
        Entry("ARIMAResults", "x = ARIMA(series, order=(1, 0, 0)).fit()", "round(float(x.forecast(2)[1]), 3)"),
    ),
)

SEABORN = Library(
    "seaborn",
    environment="heavy",
    modules=("seaborn",),
    setup="import matplotlib\nmatplotlib.use('agg')\nimport pandas as pd, seaborn as sns\n"
    "table = pd.DataFrame({'a': range(20), 'b': range(20)})",
    entries=(
        Entry("FacetGrid", "x = sns.relplot(table, x='a', y='b')", "len(x.axes.flat[0].collections)"),
        Entry("PairGrid", "x = sns.PairGrid(table)", "x.axes.shape"),
        Entry("palette", "x = sns.color_palette('deep')", "x[0]"),
    ),
)
