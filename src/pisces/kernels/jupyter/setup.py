"""The code that a Python kernel is sent at its start, and the expressions that are asked of it later."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

_PACKAGE: Final = "_pisces_guest"
_MODULES: Final = (
    "stdlib",
    "stdin",
    "time_limit",
    "variables",
    "given_names",
    "cell_loop",
    "json_safe",
    "jupyter_loop",
    "jupyter_streams",
    "jupyter",
    "modules",
    "own_frames",
    "descriptors",
    "forking",
    "processes",
    "shell_capture",
    "shell_processes",
    "shell_snapshot",
    "prelude",
)
"""What a kernel needs of the guest, by name; of a package, all that is in it."""

CHANGES: Final = f"__import__('sys').modules['{_PACKAGE}.jupyter'].changes()"
EVERYTHING: Final = f"__import__('sys').modules['{_PACKAGE}.jupyter'].everything()"
IDENTITY: Final = f"__import__('sys').modules['{_PACKAGE}.jupyter'].identify()"

_LOADER: Final = """
import importlib, importlib.util, linecache, sys
class Sources:
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.util.spec_from_loader(name, self, is_package=name in PACKAGES)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        filename, source = '<' + module.__name__ + '>', SOURCES[module.__name__]
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        exec(compile(source, filename, 'exec', 0, True), module.__dict__)
sys.meta_path.insert(0, Sources())
importlib.import_module(PACKAGE + '.jupyter').set_up(SHELL, NONCE, CWD, ENV, SHARES_MACHINE)
"""


@cache
def _sources() -> dict[str, str]:
    """The source of each module by its name in the kernel. Each is compiled there when it is first needed."""
    guest = files("pisces") / "guest"
    sources = {_PACKAGE: ""}
    for name in _MODULES:
        part = guest / name
        if part.is_dir():
            inside = {file.name[:-3]: file for file in part.iterdir() if file.name.endswith(".py")}
            sources[f"{_PACKAGE}.{name}"] = inside.pop("__init__").read_text(encoding="utf-8")
            for inner, file in inside.items():
                sources[f"{_PACKAGE}.{name}.{inner}"] = file.read_text(encoding="utf-8")
        else:
            sources[f"{_PACKAGE}.{name}"] = (guest / f"{name}.py").read_text(encoding="utf-8")
    return sources


def set_up_code(nonce: str, cwd: str, env: Mapping[str, str], *, shares_machine: bool) -> str:
    """Code that prepares an IPython kernel and leaves no name in the user's namespace."""
    sources = _sources()
    given: dict[str, Any] = {
        "PACKAGE": _PACKAGE,
        "SOURCES": sources,
        "PACKAGES": {name for name in sources if any(other.startswith(f"{name}.") for other in sources)},
        "NONCE": nonce,
        "CWD": cwd,
        "ENV": dict(env),
        "SHARES_MACHINE": shares_machine,
    }
    return f"exec({_LOADER!r}, {{**{given!r}, 'SHELL': get_ipython()}})"


def go_code(cwd: str | None, env: Mapping[str, str]) -> str:
    """Code that changes the folder and sets variables."""
    return f"__import__('sys').modules['{_PACKAGE}.jupyter'].go({cwd!r}, {dict(env)!r})"
