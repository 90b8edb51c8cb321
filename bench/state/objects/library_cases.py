"""Objects of libraries, of the kinds that Kishu lists as supported, each changed in place where it can be."""

from bench.state.objects.case import Case

NUMPY = (
    Case("ndarray", "x = np.arange(6.0)", "x.tolist()", "x[2] = -1"),
    Case(
        "a view and its array",
        "y = np.arange(10); x = y[2:5]",
        "(y.tolist(), np.shares_memory(x, y), x.base is y)",
        "x[:] = 0",
    ),
    Case(
        "a transposed array", "y = np.arange(6).reshape(2, 3); x = y.T", "(y.sum(), np.shares_memory(x, y))", "x[0] = 7"
    ),
    Case(
        "a list of views of one array",
        "y = np.zeros(9); x = [y[n::3] for n in range(3)]",
        "(y.sum(), [np.shares_memory(part, y) for part in x])",
        "x[1] += 1",
    ),
    Case("an array over a bytearray", "y = bytearray(8); x = np.frombuffer(y, 'u1')", "(sum(y), x.sum())", "x[0] = 5"),
    Case("ndarray of objects", "y = [1]; x = np.array([y, None], dtype=object)", "(y, x[0] is y)", "x[0].append(2)"),
    Case("ndarray of records", "x = np.zeros(2, dtype=[('a', 'i4'), ('b', 'f8')])", "x.tolist()", "x['a'] = [1, 2]"),
    Case("ma.MaskedArray", "x = np.ma.array([1, 2, 3])", "(int(x.sum()), x.mask.any())", "x[1] = np.ma.masked"),
    Case("random.Generator", "x = np.random.default_rng(1)", "x.random()", "_ = x.random(10)"),
    Case(
        "two names for a Generator",
        "y = np.random.default_rng(1); x = {'a': y}",
        "(x['a'].random(), x['a'] is y)",
        "_ = y.random()",
    ),
    Case("the state of numpy.random", "np.random.seed(1); x = 1", "np.random.rand()", "_ = np.random.rand()"),
    Case(
        "print options",
        "np.set_printoptions(precision=4); x = np.array([1 / 3])",
        "str(x)",
        "np.set_printoptions(precision=2)",
    ),
    Case(
        "how errors are treated",
        "x = np.seterr(divide='ignore')",
        "np.geterr()['divide']",
        "_ = np.seterr(divide='raise')",
    ),
    Case(
        "memmap of a file",
        "x = np.memmap('map.bin', 'u1', 'w+', shape=(4,)); x[:] = 1; x.flush()",
        "(x.shape, type(x).__name__)",
        "del x",
    ),
    Case("100 MB", "x = np.zeros(12_500_000); x[::4096] = 1", "float(x.sum())", "x[0] = 5"),
)

PANDAS = (
    Case("DataFrame, new column", "x = frame.copy()", "(list(x.columns), int(x.b.sum()))", "x['c'] = 1"),
    Case("DataFrame, one value", "x = frame.copy()", "x.to_dict()", "x.loc[0, 'a'] = 9"),
    Case("DataFrame, two names", "x = frame.copy(); y = x", "(x is y, y.shape)", "x.drop(0, inplace=True)"),
    Case("Series and its frame", "y = frame.copy(); x = y['a']", "(x.sum(), y.a.sum())", "y.loc[0, 'a'] = 9"),
    Case("Series of lists", "y = [1]; x = pd.Series([y, y])", "(y, x[0] is x[1] is y)", "y.append(2)"),
    Case("Index with a name", "x = pd.Index([1, 2], name='a')", "(x.name, x.tolist())", "x.name = 'b'"),
    Case("Categorical", "x = pd.Categorical(['a', 'b', 'a'])", "(list(x), list(x.categories))", "x[0] = 'b'"),
    Case(
        "DataFrameGroupBy and its frame",
        "y = frame.copy(); x = y.groupby('a')",
        "(x.b.sum().to_dict(), x.obj is y)",
        "x = None; y['b'] = 0",
    ),
    Case("attrs of a frame", "x = frame.copy(); x.attrs['from'] = ['here']", "x.attrs", "x.attrs['from'].append('b')"),
    Case(
        "TextFileReader half way",
        "x = pd.read_csv('t.csv', chunksize=2); _ = next(x)",
        "next(x).n.tolist()",
        "_ = next(x)",
    ),
    Case(
        "options",
        "x = pd; pd.set_option('display.max_rows', 9)",
        "x.get_option('display.max_rows')",
        "pd.set_option('display.max_rows', 7)",
    ),
    Case(
        "Styler",
        "x = frame.style",
        "('color: red' in x.to_html(), len(x.data))",
        "_ = x.map(lambda value: 'color: red')",
    ),
)
PANDAS_SETUP = """
import pandas as pd
frame = pd.DataFrame({"a": [1, 2, 1], "b": [3, 4, 5]})
pd.DataFrame({"n": range(20)}).to_csv("t.csv", index=False)
"""

FIGURES_SETUP = """
import matplotlib
matplotlib.use("agg")
import matplotlib.colors, matplotlib.dates, matplotlib.image, matplotlib.offsetbox, matplotlib.patches
import matplotlib.pyplot as plt, matplotlib.ticker
from mpl_toolkits.mplot3d.art3d import Line3DCollection
"""
FIGURES = (
    Case(
        "figure.Figure",
        "x = plt.figure(); _ = x.suptitle('one')",
        "(x._suptitle.get_text(), len(x.axes))",
        "_ = x.suptitle('two'); _ = x.add_subplot()",
    ),
    Case(
        "pyplot's current figure",
        "x = plt.figure(5)",
        "(plt.gcf() is x, plt.get_fignums())",
        "plt.close(5); _ = plt.figure(6)",
    ),
    Case(
        "axes.Axes and its figure",
        "y, x = plt.subplots()",
        "(x.figure is y, len(x.lines), x in y.axes)",
        "_ = x.plot([1, 2])",
    ),
    Case(
        "lines.Line2D and its axes",
        "y = plt.figure().add_subplot(); x, = y.plot([1, 2], color='red')",
        "(x.get_color(), x in y.lines)",
        "x.set_color('blue')",
    ),
    Case("patches.Ellipse", "x = matplotlib.patches.Ellipse((0, 0), 1, 2)", "(x.width, x.angle)", "x.width = 3"),
    Case("patches.Arrow", "x = matplotlib.patches.Arrow(0, 0, 1, 1)", "x.get_linewidth()", "x.set_linewidth(3)"),
    Case("image.AxesImage", "x = plt.figure().add_subplot().imshow([[0, 1]])", "x.get_clim()", "x.set_clim(0, 9)"),
    Case(
        "colors.ListedColormap",
        "x = matplotlib.colors.ListedColormap(['red', 'blue'])",
        "(x.N, x(5.0))",
        "x.colors.append('green'); x = None",
    ),
    Case(
        "colors.BoundaryNorm", "x = matplotlib.colors.BoundaryNorm([0, 1, 2], 2)", "(x.vmax, int(x(1.5)))", "x.vmax = 9"
    ),
    Case("dates.WeekdayLocator", "x = matplotlib.dates.WeekdayLocator(1)", "x.MAXTICKS", "x.MAXTICKS = 9"),
    Case(
        "ticker.AutoLocator",
        "x = matplotlib.ticker.AutoLocator()",
        "list(x.tick_values(0, 1))",
        "x.set_params(nbins=2)",
    ),
    Case(
        "offsetbox.AnchoredOffsetbox", "x = matplotlib.offsetbox.AnchoredOffsetbox('lower left')", "x.pad", "x.pad = 9"
    ),
    Case(
        "art3d.Line3DCollection",
        "x = Line3DCollection([[(0, 0, 0), (1, 1, 1)]])",
        "x.get_linewidth().tolist()",
        "x.set_linewidth(7)",
    ),
    Case(
        "rcParams",
        "x = plt.rcParams; x['lines.linewidth'] = 4",
        "(x['lines.linewidth'], x is matplotlib.rcParams)",
        "plt.rcParams['lines.linewidth'] = 9",
    ),
)

MODELS_SETUP = """
import numpy as np
from sklearn import (cluster, decomposition, ensemble, feature_extraction, impute, linear_model, model_selection,
                     naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree)
rows = np.random.default_rng(2).random((120, 4))
kinds = (rows[:, 0] > rows[:, 1]).astype(int)
"""
MODELS = (
    Case(
        "KMeans",
        "x = cluster.KMeans(2, n_init=1, random_state=0).fit(rows)",
        "(x.n_clusters, round(float(x.inertia_), 6))",
        "_ = x.set_params(n_clusters=3).fit(rows)",
    ),
    Case(
        "SGDClassifier",
        "x = linear_model.SGDClassifier(random_state=0).partial_fit(rows, kinds, classes=[0, 1])",
        "(x.t_, round(float(x.coef_.sum()), 6))",
        "_ = x.partial_fit(rows, kinds)",
    ),
    Case(
        "LogisticRegression", "x = linear_model.LogisticRegression()", "hasattr(x, 'coef_')", "_ = x.fit(rows, kinds)"
    ),
    Case(
        "RandomForestClassifier, warm start",
        "x = ensemble.RandomForestClassifier(3, warm_start=True, random_state=0, n_jobs=2).fit(rows, kinds)",
        "(len(x.estimators_), x.predict(rows[:5]).tolist())",
        "_ = x.set_params(n_estimators=5).fit(rows, kinds)",
    ),
    Case(
        "HistGradientBoostingClassifier",
        "x = ensemble.HistGradientBoostingClassifier(max_iter=3).fit(rows, kinds)",
        "x.n_iter_",
        "_ = x.set_params(max_iter=5).fit(rows, kinds)",
    ),
    Case(
        "DecisionTreeClassifier",
        "x = tree.DecisionTreeClassifier(random_state=0).fit(rows, kinds)",
        "(x.get_depth(), x.get_n_leaves())",
        "_ = x.set_params(max_depth=1).fit(rows, kinds)",
    ),
    Case(
        "SVC",
        "x = svm.SVC().fit(rows, kinds)",
        "(x.C, x.n_support_.tolist())",
        "_ = x.set_params(C=0.1).fit(rows, kinds)",
    ),
    Case(
        "MLPClassifier",
        "x = neural_network.MLPClassifier(4, random_state=0).partial_fit(rows, kinds, classes=[0, 1])",
        "(x.t_, round(float(x.loss_), 6))",
        "_ = x.partial_fit(rows, kinds)",
    ),
    Case(
        "GaussianNB",
        "x = naive_bayes.GaussianNB().partial_fit(rows, kinds, classes=[0, 1])",
        "x.class_count_.tolist()",
        "_ = x.partial_fit(rows, kinds)",
    ),
    Case(
        "KNeighborsClassifier",
        "x = neighbors.KNeighborsClassifier().fit(rows, kinds)",
        "(x.n_neighbors, x.predict(rows[:4]).tolist())",
        "x.n_neighbors = 1",
    ),
    Case(
        "PCA", "x = decomposition.PCA(2).fit(rows)", "x.components_.shape", "_ = x.set_params(n_components=1).fit(rows)"
    ),
    Case(
        "StandardScaler",
        "x = preprocessing.StandardScaler().partial_fit(rows)",
        "int(x.n_samples_seen_)",
        "_ = x.partial_fit(rows)",
    ),
    Case("SimpleImputer", "x = impute.SimpleImputer().fit(rows)", "x.strategy", "x.strategy = 'median'"),
    Case(
        "TfidfVectorizer",
        "x = feature_extraction.text.TfidfVectorizer().fit(['a bird'])",
        "sorted(x.vocabulary_)",
        "_ = x.fit(['two cats'])",
    ),
    Case(
        "a Pipeline and its step",
        "y = svm.SVC(); x = pipeline.make_pipeline(preprocessing.MinMaxScaler(), y)",
        "(x.steps[-1][1] is y, y.C)",
        "y.C = 9",
    ),
    Case(
        "GridSearchCV",
        "x = model_selection.GridSearchCV(svm.SVC(), {'C': [1, 2]}, cv=2).fit(rows, kinds)",
        "(x.best_params_, x.cv)",
        "_ = x.set_params(cv=3).fit(rows, kinds)",
    ),
)

SCIENCE_SETUP = """
import numpy as np, scipy.interpolate, scipy.optimize, scipy.sparse, scipy.spatial, scipy.stats
import statsmodels.api as sm
import networkx as nx, sympy
"""
SCIENCE = (
    Case("sparse.lil_array", "x = scipy.sparse.lil_array((3, 3))", "(x.nnz, float(x.sum()))", "x[1, 1] = 5"),
    Case(
        "sparse.csr_array and its data",
        "x = scipy.sparse.csr_array(np.eye(3)); y = x.data",
        "(float(x.sum()), np.shares_memory(x.data, y))",
        "y[:] = 2",
    ),
    Case("spatial.KDTree", "x = scipy.spatial.KDTree(np.eye(3))", "(x.n, x.query([0, 0, 1])[1].item())"),
    Case(
        "interpolate.CubicSpline",
        "x = scipy.interpolate.CubicSpline([0, 1, 2], [0, 1, 4])",
        "float(x(1.5))",
        "x.c[:] = 0",
    ),
    Case("stats.rv_frozen", "x = scipy.stats.norm(1, 2)", "(float(x.mean()), float(x.std()))", "x.kwds['scale'] = 9"),
    Case("stats.qmc.Sobol", "x = scipy.stats.qmc.Sobol(2, scramble=False)", "x.random(2).tolist()", "_ = x.random(2)"),
    Case(
        "optimize.OptimizeResult",
        "x = scipy.optimize.minimize(lambda v: (v[0] - 3) ** 2, [0.0])",
        "(x.success, round(float(x.x[0]), 3))",
        "x.x[0] = 0; x['note'] = 1",
    ),
    Case(
        "statsmodels results",
        "x = sm.OLS(np.arange(9.0), np.ones(9)).fit()",
        "(float(x.params[0]), x.model.k_constant)",
        "x.params[0] = 0",
    ),
    Case("networkx.Graph and a view", "y = nx.path_graph(4); x = y.adj", "(len(x), len(y.edges))", "y.add_edge(0, 9)"),
    Case("networkx.DiGraph", "x = nx.DiGraph([(1, 2)])", "(list(x.edges), x.nodes[1])", "x.nodes[1]['a'] = 5"),
    Case("sympy.Matrix", "x = sympy.Matrix([[1, 2]])", "str(x)", "x[0, 0] = 7"),
    Case("sympy symbols", "x, y = sympy.symbols('x y'); z = x + y", "(str(z), z.free_symbols == {x, y})", "z = x * y"),
)

TORCH_SETUP = """
import numpy as np, torch
_ = torch.manual_seed(1)
data = torch.arange(400.0).reshape(100, 4) / 400

def step(model, optimizer):
    optimizer.zero_grad()
    loss = model(data).pow(2).mean()
    loss.backward()
    optimizer.step()
    return round(loss.item(), 6)
"""
TORCH = (
    Case("Tensor", "x = torch.arange(4.0)", "x.tolist()", "_ = x.mul_(2)"),
    Case(
        "a view and its Tensor",
        "y = torch.zeros(4); x = y[1:3]",
        "(y.sum().item(), x.data_ptr() - y.data_ptr())",
        "_ = x.fill_(1)",
    ),
    Case(
        "a Tensor and its array",
        "y = np.zeros(4); x = torch.from_numpy(y)",
        "(y.sum(), np.shares_memory(x.numpy(), y))",
        "_ = x.add_(1)",
    ),
    Case(
        "a gradient",
        "x = torch.ones(2, requires_grad=True); (x * 2).sum().backward()",
        "x.grad.tolist()",
        "(x * 2).sum().backward()",
    ),
    Case(
        "nn.Linear", "x = torch.nn.Linear(4, 1)", "round(x(data).sum().item(), 4)", "_ = torch.nn.init.zeros_(x.weight)"
    ),
    Case(
        "a model and its optimizer",
        "y = torch.nn.Linear(4, 1); x = torch.optim.Adam(y.parameters())",
        "(x.param_groups[0]['params'][0] is y.weight, step(y, x))",
        "_ = step(y, x)",
    ),
    Case(
        "nn.Module with a shared weight",
        "y = torch.nn.Linear(4, 4); x = torch.nn.Sequential(y, y)",
        "(x[0] is x[1] is y, len(list(x.parameters())))",
        "x[1] = torch.nn.Linear(4, 4)",
    ),
    Case(
        "lr_scheduler",
        "y = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)\n"
        "x = torch.optim.lr_scheduler.StepLR(y, 1); y.step()",
        "(x.optimizer is y, x.get_last_lr())",
        "x.step()",
    ),
    Case(
        "Generator",
        "x = torch.Generator().manual_seed(4)",
        "torch.rand(1, generator=x).item()",
        "_ = torch.rand(5, generator=x)",
    ),
    Case(
        "a DataLoader half way",
        "x = iter(torch.utils.data.DataLoader(data, batch_size=10)); _ = next(x)",
        "round(next(x).sum().item(), 3)",
        "_ = next(x)",
    ),
)

PICTURES_SETUP = """
import bokeh.models, bokeh.plotting, cv2, ipywidgets, numpy as np, plotly.express as px
import plotly.graph_objects as go, plotly.subplots, skimage.measure, skimage.transform
from PIL import Image, ImageDraw
"""
PICTURES = (
    Case("PIL.Image", "x = Image.new('L', (4, 4))", "sum(x.tobytes())", "x.putpixel((0, 0), 9)"),
    Case(
        "PIL.ImageDraw and its image",
        "y = Image.new('L', (4, 4)); x = ImageDraw.Draw(y)",
        "(sum(y.tobytes()), x.point((1, 1), 5), sum(y.tobytes()))",
        "x.point((0, 0), 9)",
    ),
    Case(
        "plotly Figure",
        "x = go.Figure(go.Bar(y=[1, 2]))",
        "(len(x.data), x.layout.title.text)",
        "_ = x.add_bar(y=[3]); _ = x.update_layout(title='t')",
    ),
    Case(
        "a trace and its plotly Figure",
        "x = px.line(y=[1, 2]); y = x.data[0]",
        "(x.data[0] is y, y.name, y.parent is x)",
        "y.name = 'other'",
    ),
    Case(
        "plotly subplots",
        "x = plotly.subplots.make_subplots(1, 2)",
        "(len(x.data), x._grid_ref is not None)",
        "_ = x.add_bar(y=[1], row=1, col=2)",
    ),
    Case(
        "bokeh figure",
        "x = bokeh.plotting.figure(title='a')",
        "(x.title.text, len(x.renderers))",
        "x.title.text = 'b'; _ = x.line([1, 2], [3, 4])",
    ),
    Case(
        "bokeh source and its figure",
        "y = bokeh.models.ColumnDataSource({'a': [1], 'b': [2]}); x = bokeh.plotting.figure()\n"
        "_ = x.scatter('a', 'b', source=y)",
        "(y.data['a'], x.renderers[0].data_source is y)",
        "y.data['a'] = [5]",
    ),
    Case("ipywidgets.IntSlider", "x = ipywidgets.IntSlider(3)", "(x.value, x.max)", "x.value = 7"),
    Case(
        "two ipywidgets that are linked",
        "x, y = ipywidgets.IntText(1), ipywidgets.IntText(2); z = ipywidgets.link((x, 'value'), (y, 'value'))",
        "(setattr(x, 'value', x.value + 1), x.value, y.value)",
        "z.unlink(); x.value = 9",
    ),
    Case(
        "cv2.KalmanFilter",
        "x = cv2.KalmanFilter(2, 1); x.statePost = np.ones((2, 1), 'f4')",
        "x.statePost.tolist()",
        "x.statePost = np.zeros((2, 1), 'f4')",
    ),
    Case(
        "cv2 background model",
        "x = cv2.createBackgroundSubtractorMOG2(); _ = x.apply(np.full((8, 8), 50, 'u1'))",
        "int(x.getBackgroundImage().sum())",
        "_ = x.apply(np.full((8, 8), 250, 'u1'), learningRate=1)",
    ),
    Case(
        "skimage regions",
        "x = skimage.measure.regionprops(np.eye(3, dtype=int))",
        "(len(x), float(x[0].area))",
        "x.clear()",
    ),
    Case(
        "skimage transform",
        "x = skimage.transform.EuclideanTransform(rotation=1)",
        "round(float(x.params[0, 0]), 6)",
        "x.params[:] = 0",
    ),
)

TABLES_SETUP = """
import arrow, duckdb, lightgbm, lmfit, lxml.etree as ET, numpy as np, pyarrow as pa, requests
import astropy.modeling.models, astropy.table, astropy.units as u, astropy.wcs
"""
TABLES = (
    Case(
        "duckdb in memory",
        "x = duckdb.connect(); _ = x.execute('create table t as select 1 as n')",
        "x.execute('select count(*) from t').fetchall()",
        "_ = x.execute('insert into t values (2)')",
    ),
    Case(
        "a duckdb relation and its connection",
        "y = duckdb.connect(); _ = y.execute('create table t as select 1 as n'); x = y.table('t')",
        "x.aggregate('count(*)').fetchall()",
        "_ = y.execute('insert into t values (2)')",
    ),
    Case("pyarrow.Table", "x = pa.table({'a': [1, 2]})", "x.to_pydict()", "x = x.append_column('b', [[3, 4]])"),
    Case(
        "pyarrow reader half way",
        "x = pa.table({'a': range(9)}).to_reader(3); _ = x.read_next_batch()",
        "x.read_next_batch().to_pydict()",
        "_ = x.read_next_batch()",
    ),
    Case("a pyarrow array over numpy", "y = np.arange(3); x = pa.array(y)", "(x.to_pylist(), y.tolist())", "y[0] = 9"),
    Case(
        "lxml element and its parent",
        "y = ET.fromstring('<a><b/></a>'); x = y[0]",
        "(ET.tostring(y), x.getparent() is y)",
        "x.set('n', '1'); y.append(ET.Element('c'))",
    ),
    Case(
        "lxml iterparse half way",
        "import io; x = ET.iterparse(io.BytesIO(b'<a><b/><c/></a>')); _ = next(x)",
        "next(x)[1].tag",
        "_ = next(x)",
    ),
    Case(
        "requests.Session",
        "x = requests.Session()",
        "(x.headers.get('One'), len(x.cookies))",
        "x.headers['One'] = '1'; _ = x.cookies.set('a', 'b')",
    ),
    Case("arrow.Arrow", "x = arrow.get(2024, 1, 1)", "str(x)", "x = x.shift(days=1)"),
    Case(
        "lmfit.Parameters",
        "x = lmfit.Parameters(); x.add('a', 1)",
        "(list(x), x['a'].value)",
        "x['a'].value = 5; x.add('b', 2)",
    ),
    Case(
        "astropy Table",
        "x = astropy.table.QTable({'a': [1, 2] * u.m})",
        "(x.colnames, str(x['a'].sum()))",
        "x['a'][0] = 9 * u.m",
    ),
    Case("astropy Quantity", "x = [1.0, 2.0] * u.km", "str(x)", "x[0] = 5 * u.km"),
    Case("astropy model", "x = astropy.modeling.models.Linear1D(2, 1)", "float(x(3))", "x.slope = 9"),
    Case("astropy WCS", "x = astropy.wcs.WCS(naxis=2)", "x.wcs.crval.tolist()", "x.wcs.crval = [5, 6]"),
    Case(
        "lightgbm Booster",
        "y = lightgbm.Dataset(np.eye(50), np.arange(50.0))\n"
        "x = lightgbm.train({'verbose': -1, 'num_threads': 2}, y, 2, keep_training_booster=True)",
        "(x.num_trees(), x.current_iteration())",
        "_ = x.rollback_one_iter()",
    ),
    Case(
        "lightgbm Dataset",
        "x = lightgbm.Dataset(np.eye(5), np.arange(5.0)).construct()",
        "(x.num_data(), x.get_label().tolist())",
        "_ = x.set_label(np.zeros(5))",
    ),
)

POLARS = (
    Case(
        "DataFrame", "x = pl.DataFrame({'a': [1, 2]})", "x.to_dicts()", "_ = x.insert_column(1, pl.Series('b', [3, 4]))"
    ),
    Case(
        "two names for a DataFrame",
        "x = pl.DataFrame({'a': [1]}); y = [x]",
        "(x.to_dicts(), y[0] is x)",
        "x[0, 'a'] = 9",
    ),
    Case(
        "LazyFrame",
        "x = pl.LazyFrame({'a': [1, 2]}).filter(pl.col('a') > 1)",
        "x.collect().height",
        "x = x.filter(pl.col('a') > 2)",
    ),
)
