"""The code that a Python kernel is sent at its start, and the expressions that are asked of it later."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

_PACKAGE: Final = "_pisces_guest"
_MODULES: Final = ("stdin", "variables", "json_safe", "jupyter_loop", "jupyter_streams", "jupyter")
"""In the order in which they need each other."""

CHANGES: Final = f"__import__('sys').modules['{_PACKAGE}.jupyter'].changes()"
EVERYTHING: Final = f"__import__('sys').modules['{_PACKAGE}.jupyter'].everything()"
IDENTITY: Final = f"__import__('sys').modules['{_PACKAGE}.jupyter'].identify()"

_LOADER: Final = """
import sys, types
package = sys.modules[PACKAGE] = types.ModuleType(PACKAGE)
package.__path__ = []
for name, source in SOURCES:
    module = sys.modules[PACKAGE + '.' + name] = types.ModuleType(PACKAGE + '.' + name)
    module.__package__ = PACKAGE
    setattr(package, name, module)
    exec(compile(source, '<' + name + '>', 'exec'), module.__dict__)
sys.modules[PACKAGE + '.jupyter'].set_up(SHELL, NONCE, CWD, ENV)
"""


@cache
def _sources() -> tuple[tuple[str, str], ...]:
    guest = files("pisces") / "guest"
    return tuple((name, (guest / f"{name}.py").read_text(encoding="utf-8")) for name in _MODULES)


def set_up_code(nonce: str, cwd: str, env: Mapping[str, str]) -> str:
    """Code that prepares an IPython kernel and leaves no name in the user's namespace."""
    given: dict[str, Any] = {
        "PACKAGE": _PACKAGE,
        "SOURCES": _sources(),
        "NONCE": nonce,
        "CWD": cwd,
        "ENV": dict(env),
    }
    return f"exec({_LOADER!r}, {{**{given!r}, 'SHELL': get_ipython()}})"


def go_code(cwd: str | None, env: Mapping[str, str]) -> str:
    """Code that changes the folder and sets variables."""
    return f"__import__('sys').modules['{_PACKAGE}.jupyter'].go({cwd!r}, {dict(env)!r})"
