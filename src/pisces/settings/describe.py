"""What a setting allows, in words, derived from its type; and the nearest known name for a mistyped one."""

from typing import Any

import msgspec
from msgspec import inspect

from pisces.settings.schema import GROUPS, SETTINGS, SettingInfo


def allowed_values(setting: SettingInfo) -> str:
    """What the setting can be set to, as the end of a sentence: `session or per-call`, `a number from 1 to 600`."""
    return _words(inspect.type_info(setting.type))


def show_value(value: Any) -> str:
    """A value the way a settings file has it."""
    try:
        return msgspec.json.encode(value).decode("utf-8")
    except (TypeError, ValueError):
        return repr(value)


def nearest_name(name: str) -> str | None:
    """The known setting or group that was probably meant, whatever its case and underscores."""
    import difflib  # only a mistyped name needs it

    folded = {_fold(known): known for known in (*SETTINGS, *GROUPS)}
    last_parts = {_fold(known.rpartition(".")[2]): known for known in SETTINGS}
    for table, key in ((folded, _fold(name)), (last_parts, _fold(name.rpartition(".")[2]))):
        close = difflib.get_close_matches(key, table, n=1, cutoff=0.75)
        if close:
            return table[close[0]]
    return None


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _words(kind: inspect.Type) -> str:
    words = "a text"
    match kind:
        case inspect.Metadata(extra={"one": str(one)}):
            words = one
        case inspect.Metadata():
            words = _words(kind.type)
        case inspect.LiteralType():
            words = " or ".join(str(value) for value in kind.values)
        case inspect.UnionType():
            words = " or ".join(_words(member) for member in kind.types)
        case inspect.BoolType():
            words = "true or false"
        case inspect.IntType():
            words = f"a whole number from {kind.ge} to {kind.le}"
        case inspect.FloatType():
            words = f"a number from {kind.ge:g} to {kind.le:.10g}"
        case inspect.VarTupleType(item_type=inspect.Metadata(extra={"several": str(names)})):
            words = f"a list of {names}"
    return words
