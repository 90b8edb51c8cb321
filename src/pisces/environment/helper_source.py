"""Helpers, read out of the source of the prelude or a module: known before any kernel has started, and without one."""

from functools import cache
from typing import TYPE_CHECKING

from pisces.environment.helper_cache import HelperDoc

if TYPE_CHECKING:
    import ast

    Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def prelude_source() -> str:
    """The file that has the name, the signature and the words of each helper."""
    from importlib.resources import files

    return files("pisces").joinpath("guest", "prelude", "names.py").read_text(encoding="utf-8")


def helpers_in(source: str) -> list[HelperDoc]:
    """Every helper that a source defines and gives a category, in order; none, if it is no Python."""
    import ast

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: dict[str, HelperDoc] = {}
    definitions: dict[str, Definition] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            definitions[node.name] = node
            category = _category_of(node)
            if category and not isinstance(node, ast.ClassDef):
                found[node.name] = _described(node.name, node, category)
        elif isinstance(node, ast.Assign):
            _assigned(node, definitions, found)
    return list(found.values())


def _category_of(node: "Definition") -> str:
    """What its decorator says, as in `@helper("Text")`, or a class, as in `category = "Agent"`."""
    import ast

    if isinstance(node, ast.ClassDef):
        values = [part.value for part in node.body if isinstance(part, ast.Assign) and _is_called(part, "category")]
    else:
        calls = [call for call in node.decorator_list if isinstance(call, ast.Call) and call.args]
        values = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "helper"]
    return next((str(value.value) for value in values if isinstance(value, ast.Constant)), "")


def _assigned(node: "ast.Assign", definitions: "dict[str, Definition]", found: dict[str, HelperDoc]) -> None:
    """`name.category = "Agent"` makes a function a helper; `name = Class()` does, if the class has a category."""
    import ast

    target, value = node.targets[0], node.value
    if isinstance(target, ast.Attribute) and target.attr == "category":
        if isinstance(target.value, ast.Name) and isinstance(value, ast.Constant):
            name = target.value.id
            if name in definitions:
                found[name] = _described(name, definitions[name], str(value.value))
    elif isinstance(target, ast.Name) and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        made_of = definitions.get(value.func.id)
        category = "" if made_of is None else _category_of(made_of)
        if made_of is not None and category and target.id[0] != "_":
            found[target.id] = _described(target.id, made_of, category)


def _described(name: str, node: "Definition", category: str) -> HelperDoc:
    import ast

    signature = ""
    if not isinstance(node, ast.ClassDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
        signature = f"({ast.unparse(node.args)}){returns}"
    return HelperDoc(name, category, signature, ast.get_docstring(node) or "")


def _is_called(node: "ast.Assign", name: str) -> bool:
    import ast

    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
