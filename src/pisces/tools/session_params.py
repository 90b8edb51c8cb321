"""What the `session` tool can be asked, and which parameters belong to which action."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from pisces.errors import InvalidCall
from pisces.model.sessions import SessionAction
from pisces.tools.schema import check_name, refuse_others

_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class SessionParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `session` tool."""

    action: SessionAction
    session: Annotated[_Name, Meta(description="Default: that of `python`.")] | None = None
    kernel: Annotated[str, Meta(min_length=1)] | None = None
    name: Annotated[_Name, Meta(description="Of the checkpoint.")] | None = None
    drop: Annotated[bool, Meta(description="checkpoint: give it up.")] | None = None
    steps: Annotated[int, Meta(ge=1, description="undo: how many cells.")] | None = None
    to: Annotated[_Name, Meta(description="branch: the new session.")] | None = None
    job: _Name | None = None
    timeout: float | None = None
    id: Annotated[str | int, Meta(description="Of an artifact.")] | None = None
    lines: Annotated[str, Meta(description="output: `100-200`, `100-` or `100`.")] | None = None
    search: Annotated[str, Meta(description="output: regular expression.")] | None = None
    path: Annotated[str, Meta(min_length=1, description="export: the .ipynb.")] | None = None


_ONE: Final = ("session", "kernel", "timeout")
"""What an action on one session takes."""
TAKEN: Final[dict[SessionAction, tuple[str, ...]]] = {
    "list": (),
    "checkpoint": ("name", "drop", *_ONE),
    "restore": ("name", *_ONE),
    "undo": ("steps", *_ONE),
    "branch": ("to", *_ONE),
    "interrupt": ("session", "kernel"),
    "close": ("session", "kernel"),
    "variables": _ONE,
    "jobs": ("session", "kernel"),
    "wait": ("job", "timeout"),
    "cancel": ("job", "timeout"),
    "output": ("id", "job", "lines", "search"),
    "export": ("path", "session", "kernel"),
}
"""Which parameters each action takes."""
_NEEDED: Final[dict[SessionAction, str]] = {
    "checkpoint": "name",
    "wait": "job",
    "cancel": "job",
    "export": "path",
}


def check(params: SessionParams) -> None:
    """Raises `InvalidCall` for parameters that the action does not take, one that it needs, and a bad new name."""
    action = params.action
    taken = TAKEN[action]
    given = refuse_others(params, action, taken, always=("action",))
    if action == "checkpoint" and not params.drop:
        check_name("name", params.name)
    check_name("to", params.to)
    needed = _NEEDED.get(action)
    if needed is not None and needed not in given:
        raise InvalidCall(f"`{needed}` is missing: the action `{action}` takes {', '.join(taken)}")
    if action == "output" and ("id" in given) == ("job" in given):
        raise InvalidCall(
            "Give either `id`, the number of an artifact, or `job`: the action `output` reads one of them"
        )
