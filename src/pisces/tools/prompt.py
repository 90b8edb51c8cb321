"""The text by which a model learns a tool: one file each, beside this one."""

from functools import cache


@cache
def prompt(tool: str) -> str:
    """What a model reads before it uses the tool."""
    from importlib.resources import files

    return files("pisces.tools").joinpath(f"prompts/{tool}.md").read_text(encoding="utf-8").strip()
