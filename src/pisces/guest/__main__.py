"""Where the supervisor begins: `python <this file> <descriptor of the host's socket> <seconds to idle>`.

The local gateway begins here too: `python <this file> gateway` (see `gateway`), or `gateway-check`.

With `tether`, the descriptor and an order as JSON instead, it is one that holds a kernel of any language; with
`shell-tether`, the descriptor and the pid of the host, one that holds a command of the shell.

Python has put this folder at the front of `sys.path`; that entry goes at once, because it would let `display` or
`streams` here win over a module of the user's. The package is loaded by its path instead.
"""

import builtins
import importlib.util
import os
import sys
from importlib.machinery import FileFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_WORK_FOR_THE_CELL = ("builtin_shell", "commands", "magic")
"""The beginnings of the names of modules that see what the cell sees, as the helpers of the prelude do."""
_builtins = dict(vars(builtins))


class _OwnBuiltins(SourceFileLoader):
    """Gives our modules a copy of the builtins, because a cell may replace some and leave them replaced."""

    def exec_module(self, module: "ModuleType") -> None:
        if not module.__name__.rpartition(".")[2].startswith(_WORK_FOR_THE_CELL):
            module.__dict__["__builtins__"] = _builtins
        super().exec_module(module)


def _load_package() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]
    sys.path_importer_cache[here] = FileFinder(here, (_OwnBuiltins, [".py"]))
    spec = importlib.util.spec_from_file_location(
        "_pisces_guest", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_pisces_guest"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load_package()
    task = sys.argv[1]
    if task == "tether":
        from _pisces_guest.tether import hold

        hold(int(sys.argv[2]), sys.argv[3])
    elif task == "shell-tether":
        from _pisces_guest.shell_tether import hold_command

        hold_command(int(sys.argv[2]), int(sys.argv[3]))
    elif task == "gateway":
        from _pisces_guest.gateway import main

        main()
    elif task == "gateway-check":
        from _pisces_guest.gateway import check

        check()
    else:
        from _pisces_guest.zygote import supervise

        supervise(int(task), float(sys.argv[2]))
