"""Where the supervisor begins: `python <this file> <descriptor of the host's socket> <seconds to idle>`.

Python has put this folder at the front of `sys.path`; that entry goes at once, because it would let `display` or
`streams` here win over a module of the user's. The package is loaded by its path instead.
"""

import importlib.util
import os
import sys


def _load_package() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]
    spec = importlib.util.spec_from_file_location(
        "_pisces_guest", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_pisces_guest"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load_package()
    from _pisces_guest.zygote import supervise

    supervise(int(sys.argv[1]), float(sys.argv[2]))
