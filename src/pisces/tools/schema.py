"""Parameters in, checked once: unknown keys, missing ones and wrong types are one clear error each."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from pisces.errors import InvalidCall

T = TypeVar("T", bound=msgspec.Struct)

UNLISTED: Final = "(another name)"
"""Describes a parameter that is taken, and that no schema lists: a second name of another one."""

_SHOWN = 200
_UNTOLD: Final = ("title", "minLength", "maxLength")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def parse_params(params: Mapping[str, Any], kind: type[T]) -> T:
    """The parameters as a struct. Raises `InvalidCall` with the place, the value and what is allowed."""
    if not isinstance(params, Mapping):
        raise InvalidCall(f"Parameters must be an object, got {_show(params)}")
    names = _names(kind)
    for key in params:
        if key not in names:
            near = difflib.get_close_matches(str(key), names, n=1)
            meant = f" Did you mean `{near[0]}`?" if near else ""
            raise InvalidCall(f"Unknown parameter `{key}`.{meant} Parameters: {', '.join(names)}")
    try:
        return msgspec.convert(params, kind, strict=True)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        place = path.rstrip("`").lstrip(".") or "parameters"
        choices = _choices(kind, place) if reason.startswith("Invalid enum value") else []
        expected = f"Expected one of {', '.join(choices)}" if choices else reason.partition(", got ")[0]
        raise InvalidCall(f"Wrong value for `{place}`: {expected}, got {_show(_value_at(params, place))}") from None


def refuse_others(params: msgspec.Struct, action: str, taken: Sequence[str], *, always: Sequence[str]) -> list[str]:
    """The names of the parameters that were given, but for those that every action has.

    Raises `InvalidCall` for one that does not belong to the action.
    """
    names = (field.name for field in msgspec.structs.fields(params) if field.name not in always)
    given = [name for name in names if getattr(params, name) is not None]
    for name in given:
        if name not in taken:
            raise InvalidCall(
                f"`{name}` does not belong to the action `{action}`, which takes: {', '.join(taken) or 'nothing'}"
            )
    return given


def check_name(place: str, name: str | None) -> None:
    """Raises `InvalidCall` for a name that would break the line it is shown on, or write to a terminal."""
    if name is not None and (not name.strip() or _CONTROL.search(name)):
        raise InvalidCall(f"Wrong value for `{place}`: a name that can be shown on one line is needed, got {name!r}")


def _choices(kind: type[msgspec.Struct], place: str) -> list[str]:
    """The values that a parameter can have, if they can be counted."""
    kinds: list[Any] = [get_type_hints(kind).get(place)]
    while kinds:
        each = kinds.pop()
        if get_origin(each) is Literal:
            return [f"`{value}`" for value in get_args(each)]
        kinds.extend(get_args(each))
    return []


@cache
def _names(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(kind))


def json_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a struct, in one piece and as short as it can be said: every model pays for it in each call.

    A parameter that may be left out is not said to allow null as well, though null is taken as leaving it out. Bounds
    of lengths, and second names of parameters, are not told: whoever goes wrong there gets an error that says it.
    """
    _, definitions = msgspec.json.schema_components([kind], ref_template="{name}")
    return _object(definitions[kind.__name__], definitions)


def _object(definition: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    fields = {name: _field(field, definitions) for name, field in definition["properties"].items()}
    required = {"required": definition["required"]} if definition["required"] else {}
    listed = {name: field for name, field in fields.items() if field.get("description") != UNLISTED}
    return {"type": "object", "properties": listed, **required, "additionalProperties": False}


def _field(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field without the default that is null or nothing, and without null itself."""
    if "$ref" in field:
        return _object(definitions[field["$ref"]], definitions)
    kinds = [kind for kind in field.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        field = {**field, **kinds[0]}
        del field["anyOf"]
    elif kinds:
        field = {**field, "anyOf": kinds}
    if "items" in field:
        field = {**field, "items": _field(field["items"], definitions)}
    left_out = _UNTOLD if field.get("default") else (*_UNTOLD, "default")
    return {name: value for name, value in field.items() if name not in left_out}


def _value_at(params: Mapping[str, Any], place: str) -> Any:
    """What the caller gave at a place like `cells[0].code`."""
    value: Any = params
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", place):
        try:
            value = value[name] if name else value[int(index)]
        except (KeyError, IndexError, TypeError):
            break
    return value


def _show(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
