"""The text by which a model learns a tool: one file each, beside this one."""

from functools import cache

from pisces.tools.base import Services


class PromptedTool:
    """What all tools are made of: a name, what the runtime lends them, and the text of their name."""

    name = ""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def description(self) -> str:
        """What a model reads before it uses the tool."""
        return prompt(self.name)


@cache
def prompt(tool: str) -> str:
    """What a model reads before it uses the tool."""
    from importlib.resources import files

    return files("pisces.tools").joinpath(f"prompts/{tool}.md").read_text(encoding="utf-8").strip()
