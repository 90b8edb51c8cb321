"""The guest runs in the user's interpreter: standard library only, Python 3.9 and later, nothing of ours around it."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_tree import ROOT

PACKAGE = ROOT / "src" / "pisces"
GUEST = PACKAGE / "guest"
SOURCES = sorted(GUEST.rglob("*.py"))
MODULES = sorted(path.relative_to(GUEST).with_suffix("").as_posix().replace("/", ".") for path in SOURCES)
OTHERS = sorted(path for path in PACKAGE.rglob("*.py") if GUEST not in path.parents)

GATEWAY = {"jupyter_client", "jupyter_server", "kernel_gateway", "tornado", "traitlets", "zmq"}
"""What the parts of the local gateway may import when they are loaded: they are loaded only in its process."""

OPTIONAL = {"IPython", "matplotlib", "matplotlib_inline", "numpy", "pandas", "torch", "traitlets"} | GATEWAY
"""What the guest may use where the user has it: imported inside functions only."""

IPYTHON = {"IPython", "traitlets"}
"""What a module named for IPython may import when it is loaded, because it is loaded only where IPython is."""

LOAD = """
import importlib, importlib.util, sys
spec = importlib.util.spec_from_file_location("_pisces_guest", {init!r}, submodule_search_locations=[{folder!r}])
package = importlib.util.module_from_spec(spec)
sys.modules["_pisces_guest"] = package
spec.loader.exec_module(package)
for name in {modules!r}:
    importlib.import_module("_pisces_guest." + name)
foreign = [
    name for name, module in sys.modules.items()
    if "site-packages" in (getattr(module, "__file__", None) or "") or name.partition(".")[0] == "pisces"
]
print("foreign:", foreign)
"""


def test_there_is_a_guest_to_check() -> None:
    assert "__main__" in MODULES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(GUEST).as_posix())
def test_a_guest_module_needs_only_the_standard_library(path: Path) -> None:
    tree = parse(path)
    foreign = {name for name in imported(tree) if name not in sys.stdlib_module_names | {"_pisces_guest"}}
    assert foreign <= OPTIONAL, f"{path.name} imports {sorted(foreign - OPTIONAL)}"
    allowed = IPYTHON if path.name.startswith("ipython") else GATEWAY if path.name.startswith("gateway_") else set()
    assert OPTIONAL & set(imported(tree, nested=False)) <= allowed


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(GUEST).as_posix())
def test_a_guest_module_has_the_grammar_of_python_3_9(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Match, ast.TryStar))]


@pytest.mark.parametrize("name", ["python3.9", "python3.10", "python3.11", "python3.12", "python3.13"])
def test_the_guest_loads_in_an_isolated_interpreter_under_its_private_name(name: str) -> None:
    interpreter = sys.executable if name == f"python3.{sys.version_info[1]}" else shutil.which(name)
    if interpreter is None or not answers(interpreter):
        pytest.skip(f"{name} is not installed here")
    elsewhere = ("__main__", "__init__", "ipython", "gateway_")
    modules = [module for module in MODULES if not module.startswith(elsewhere)]
    program = LOAD.format(init=str(GUEST / "__init__.py"), folder=str(GUEST), modules=modules)
    done = run(interpreter, "-I", "-S", "-W", "error", "-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == "foreign: []\n"


def test_nobody_imports_the_guest() -> None:
    importing = [path for path in OTHERS if "pisces.guest" in dotted(parse(path))]
    assert importing == []


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(tree: ast.Module, *, nested: bool = True) -> Iterator[str]:
    """The top-level names of absolute imports; without `nested`, of those that run when the module is loaded."""
    for node in ast.walk(tree) if nested else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]


def dotted(tree: ast.Module) -> set[str]:
    """Every module that a tree imports, with the packages above it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return {".".join(name.split(".")[:2]) for name in names}


def answers(interpreter: str) -> bool:
    """Whether the command is more than a name: version switchers put commands on PATH that only complain."""
    return run(interpreter, "-I", "-S", "-c", "pass").returncode == 0


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
