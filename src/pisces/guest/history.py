"""The cells and results so far, as the user sees them: `In`, `Out`, `_`, `__`, `___` and `_<n>`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RECENT = ("_", "__", "___")


class History:
    """Keeps the names in the namespace; where the user bound one of `_`, `__`, `___` otherwise, that stays."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self.clear()

    def clear(self) -> None:
        """Begin anew; what the user holds of the old lists stays as it is."""
        self._inputs: list[str] = [""]
        self._outputs: dict[int, Any] = {}
        self._recent: list[Any] = ["", "", ""]
        self._namespace.update(zip(_RECENT, self._recent))
        self._namespace["In"] = self._inputs
        self._namespace["Out"] = self._outputs

    def add_input(self, code: str, count: int) -> None:
        """Make `In[count]` the cell's own text; numbers before it that were never seen become empty."""
        missing = count - len(self._inputs)
        if missing > 0:
            self._inputs += [""] * missing
        self._inputs.append(code)

    def add_result(self, value: Any, count: int) -> None:
        """Make `value` the result of cell `count`, and the last one."""
        namespace = self._namespace
        if value is self._outputs:
            return  # It would hold itself.
        if all(namespace.get(name, mine) is mine for name, mine in zip(_RECENT, self._recent)):
            self._recent = [value, *self._recent[:2]]
            namespace.update(zip(_RECENT, self._recent))
        namespace[f"_{count}"] = value
        self._outputs[count] = value
