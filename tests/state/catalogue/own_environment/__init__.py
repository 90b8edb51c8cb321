"""Libraries that the environments of the usual tests lack: those of `state` and `catalogue`.

Left out are pyspark and ray, each of which is a system of several processes: of those only the connection is in the
kernel.

Above it is the catalogue, which lists them after its own. Below it is only what an entry is.
"""

from tests.state.catalogue.entry import Library
from tests.state.catalogue.own_environment.charts_and_pictures import CHARTS_AND_PICTURES
from tests.state.catalogue.own_environment.databases_and_search import DATABASES_AND_SEARCH
from tests.state.catalogue.own_environment.graphs_and_solvers import GRAPHS_AND_SOLVERS
from tests.state.catalogue.own_environment.messages_and_web import MESSAGES_AND_WEB
from tests.state.catalogue.own_environment.models import MODELS
from tests.state.catalogue.own_environment.packing_and_grids import PACKING_AND_GRIDS
from tests.state.catalogue.own_environment.parallel_work import PARALLEL_WORK

__all__ = ["LIBRARIES_OF_THEIR_OWN"]

LIBRARIES_OF_THEIR_OWN: tuple[Library, ...] = (
    *PARALLEL_WORK,
    *MESSAGES_AND_WEB,
    *GRAPHS_AND_SOLVERS,
    *PACKING_AND_GRIDS,
    *DATABASES_AND_SEARCH,
    *MODELS,
    *CHARTS_AND_PICTURES,
)
