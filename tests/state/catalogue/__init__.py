"""Every class of objects whose way through a crash is known, library by library.

Above it are `tests/state/survival.py`, which makes these objects in a session and crashes it, and the table in
docs/state.md. Below it is nothing: an entry is text that a kernel runs.
"""

from tests.state.catalogue.asyncio_tasks import TASKS
from tests.state.catalogue.beside_polars import BESIDE_POLARS
from tests.state.catalogue.builtin_objects import LANGUAGE
from tests.state.catalogue.child_processes import PROCESSES
from tests.state.catalogue.entry import Entry, Environment, Library, Way
from tests.state.catalogue.files import FILES
from tests.state.catalogue.matplotlib_figures import MATPLOTLIB
from tests.state.catalogue.numba_functions import NUMBA
from tests.state.catalogue.numpy_arrays import NUMPY
from tests.state.catalogue.own_environment import LIBRARIES_OF_THEIR_OWN
from tests.state.catalogue.pandas_tables import PANDAS
from tests.state.catalogue.pyarrow_tables import PYARROW
from tests.state.catalogue.query_engines import DUCKDB, POLARS
from tests.state.catalogue.science import NETWORKX, SEABORN, STATSMODELS, SYMPY, XARRAY
from tests.state.catalogue.scipy_objects import SCIPY
from tests.state.catalogue.sklearn_models import SKLEARN
from tests.state.catalogue.standard_values import CONTAINERS, TOOLS
from tests.state.catalogue.threads import RUNNING_THREADS, THREADS
from tests.state.catalogue.torch_tensors import TORCH, TORCH_TASKS, TORCH_THREADS
from tests.state.catalogue.web_and_records import MARKUP, PILLOW, RECORDS, REQUESTS

__all__ = ["LIBRARIES", "Entry", "Environment", "Library", "Way"]

LIBRARIES: tuple[Library, ...] = (
    LANGUAGE,
    CONTAINERS,
    TOOLS,
    FILES,
    THREADS,
    RUNNING_THREADS,
    PROCESSES,
    TASKS,
    NUMPY,
    PANDAS,
    MATPLOTLIB,
    SCIPY,
    SKLEARN,
    PYARROW,
    DUCKDB,
    POLARS,
    BESIDE_POLARS,
    TORCH,
    TORCH_THREADS,
    TORCH_TASKS,
    NUMBA,
    SYMPY,
    NETWORKX,
    XARRAY,
    STATSMODELS,
    SEABORN,
    PILLOW,
    REQUESTS,
    MARKUP,
    RECORDS,
    *LIBRARIES_OF_THEIR_OWN,
)
