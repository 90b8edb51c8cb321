"""scipy: matrices, trees, distributions and fitted curves."""

from tests.state.catalogue.entry import Entry, Library

SCIPY = Library(
    "scipy",
    environment="data",
    modules=("scipy",),
    setup="""
import numpy as np
import scipy.integrate, scipy.interpolate, scipy.optimize, scipy.signal, scipy.sparse, scipy.spatial, scipy.stats
from scipy.sparse import linalg as sparse_linalg
from scipy.spatial.transform import Rotation

points = np.random.default_rng(1).random((200, 2))
banded = scipy.sparse.diags_array([np.full(99, -1.0), np.full(100, 2.0), np.full(99, -1.0)], offsets=[-1, 0, 1])
""",
    entries=(
        Entry("sparse.csr_array", "x = banded.tocsr()", "float((x @ x).sum())"),
        Entry("sparse.coo_array", "x = banded.tocoo()", "x.nnz"),
        Entry(
            "sparse.linalg.SuperLU",
            "x = sparse_linalg.splu(banded.tocsc())",
            "round(float(x.solve(np.ones(100)).sum()), 6)",
        ),
        Entry(
            "sparse.linalg.LinearOperator",
            "x = sparse_linalg.aslinearoperator(banded)",
            "float((x @ np.ones(100)).sum())",
        ),
        Entry("spatial.KDTree", "x = scipy.spatial.KDTree(points)", "int(x.query(points, k=3, workers=2)[1].sum())"),
        Entry("spatial.ConvexHull", "x = scipy.spatial.ConvexHull(points)", "round(float(x.volume), 9)"),
        Entry("spatial.Delaunay", "x = scipy.spatial.Delaunay(points)", "int(x.find_simplex([0.5, 0.5]))"),
        Entry(
            "spatial.transform.Rotation",
            "x = Rotation.from_euler('z', 90, degrees=True)",
            "x.apply([1, 0, 0]).round(9).tolist()",
        ),
        Entry("interpolate.CubicSpline", "x = scipy.interpolate.CubicSpline([0, 1, 2], [0, 1, 4])", "float(x(1.5))"),
        Entry(
            "interpolate.RegularGridInterpolator",
            "x = scipy.interpolate.RegularGridInterpolator(([0.0, 1.0], [0.0, 1.0]), np.eye(2))",
            "float(x([[0.5, 0.5]])[0])",
        ),
        Entry("stats.rv_frozen", "x = scipy.stats.norm(1, 2)", "float(x.cdf(2))"),
        Entry("stats.gaussian_kde", "x = scipy.stats.gaussian_kde(points.T)", "round(float(x([0.5, 0.5])[0]), 9)"),
        Entry("stats.qmc.Sobol (begun)", "x = scipy.stats.qmc.Sobol(2, rng=4); x.random(4)", "x.random(4).sum()"),
        Entry(
            "optimize.OptimizeResult",
            "x = scipy.optimize.minimize(lambda v: (v[0] - 3) ** 2, [0.0])",
            "round(float(x.x[0]), 4)",
        ),
        Entry(
            "integrate.RK45 (begun)",
            "x = scipy.integrate.RK45(lambda t, y: -y, 0, [1.0], 10); x.step()",
            "(x.step(), float(x.t))",
        ),
        Entry("signal.lti", "x = scipy.signal.lti([1], [1, 1])", "round(float(x.step()[1][-1]), 6)"),
    ),
)
