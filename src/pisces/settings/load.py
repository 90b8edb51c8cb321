"""Settings from their layers: defaults, the user's file, the project's file, the environment, the arguments.

Each layer is read into dotted names, checked against the schema, and laid over the one before; every value knows
where it came from. The first thing that is wrong is raised as a `SettingsError` that names the place, the key, the
value and what is allowed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from pisces.errors import SettingsError
from pisces.settings.describe import allowed_values, nearest_name, show_value
from pisces.settings.paths import Paths, project_settings_file
from pisces.settings.schema import GROUPS, SETTINGS, SettingInfo, Settings, ToolMode
from pisces.settings.switches import Switches, read_switches
from pisces.settings.toml_file import read_toml

Layer = Literal["default", "user", "project", "environment", "argument"]

VARIABLE_PREFIX: Final = "PI_SET__"
"""`PI_SET__python__kernelMode=per-call` sets `python.kernelMode`."""


MODE_VARIABLE: Final = "PI_PY"
"""The short way to set `python.toolMode`."""
_TOOL_MODE: Final = "python.toolMode"
_MODES: Final[Mapping[str, ToolMode]] = {
    "0": "bash-only",
    "bash": "bash-only",
    "1": "ipy-only",
    "py": "ipy-only",
    "mix": "both",
    "both": "both",
}


class Origin(msgspec.Struct, frozen=True):
    """Where a value comes from: the layer, and the file or variable in it."""

    layer: Layer
    where: str = ""

    def __str__(self) -> str:
        return self.where or self.layer


class LoadedSettings(msgspec.Struct, frozen=True):
    """Settings, and for each the place that it comes from, by dotted name."""

    settings: Settings
    provenance: Mapping[str, Origin]
    switches: Switches = Switches()

    def rows(self) -> Iterator[tuple[SettingInfo, Any, Origin]]:
        """Every setting with its value and origin, in the order of the schema: what a listing shows."""
        for name, info in SETTINGS.items():
            yield info, info.value_in(self.settings), self.provenance[name]


def load_settings(
    cwd: Path,
    environ: Mapping[str, str],
    overrides: Mapping[str, Any] | Settings | None = None,
) -> LoadedSettings:
    """Load the settings for work in `cwd`.

    `overrides` are dotted names (`{"python.kernelMode": "per-call"}`) or nested tables, laid over all other layers.
    A `Settings` is complete in itself: it is checked and used as it is, and no file or variable is read.
    """
    switches = read_switches(environ)
    if isinstance(overrides, Settings):
        return _use_whole(overrides, switches)
    values: dict[str, Any] = {}
    provenance = {name: Origin("default") for name in SETTINGS}
    for name, value, origin in _layers(cwd, environ, overrides or {}):
        values[name] = value
        provenance[name] = origin
    return LoadedSettings(_assemble(values), provenance, switches)


def _layers(cwd: Path, environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Iterator[tuple[str, Any, Origin]]:
    files: tuple[tuple[Layer, Path], ...] = (
        ("user", Paths.locate(environ).settings_file),
        ("project", project_settings_file(cwd)),
    )
    for layer, file in files:
        yield from _checked(read_toml(file), Origin(layer, str(file)))
    for variable in sorted(environ):
        if variable.startswith(VARIABLE_PREFIX):
            name = variable.removeprefix(VARIABLE_PREFIX).replace("__", ".")
            yield from _checked({name: environ[variable]}, Origin("environment", variable))
    if environ.get(MODE_VARIABLE, "").strip():
        yield _TOOL_MODE, _mode(environ[MODE_VARIABLE]), Origin("environment", MODE_VARIABLE)
    yield from _checked(overrides, Origin("argument"))


def _mode(text: str) -> ToolMode:
    """The tool mode that `PI_PY` names."""
    mode = _MODES.get(text.strip().lower())
    if mode is None:
        raise SettingsError(
            f"Environment variable {MODE_VARIABLE}: {show_value(text)} is no tool mode.",
            hint="Allowed: 0 or bash, 1 or py, mix or both.",
        )
    return mode


def _checked(table: Mapping[str, Any], origin: Origin, prefix: str = "") -> Iterator[tuple[str, Any, Origin]]:
    for key, value in table.items():
        name = f"{prefix}{key}"
        if name in SETTINGS:
            yield name, _check_value(SETTINGS[name], value, origin), origin
        elif name not in GROUPS:
            raise _unknown_name(name, value, origin)
        elif isinstance(value, Mapping):
            yield from _checked(value, origin, f"{name}.")
        else:
            raise SettingsError(
                f"{_place(origin)}: `{name}` is a table of settings, not a setting; it was given {show_value(value)}.",
                hint=f"Set one of its keys: {', '.join(known for known in SETTINGS if known.startswith(name + '.'))}.",
            )


def _check_value(setting: SettingInfo, value: Any, origin: Origin) -> Any:
    if setting.user_only and origin.layer == "project":
        raise SettingsError(
            f"{_place(origin)}: a project's settings cannot set `{setting.name}` (here: {show_value(value)}): "
            "a cloned repository must not unlock secrets, choose what is run, or delete what other projects have.",
            hint="Take the line out; set it in your own settings file, by a variable or by an argument instead.",
        )
    from_text = origin.layer == "environment"
    try:
        return msgspec.convert(_parse_text(value, setting) if from_text else value, setting.type, strict=not from_text)
    except msgspec.ValidationError as error:
        raise SettingsError(
            f"{_place(origin)}: `{setting.name}` cannot be {show_value(value)}.",
            hint=f"Allowed: {allowed_values(setting)}. The default is {show_value(setting.default)}.",
        ) from error


def _parse_text(text: str, setting: SettingInfo) -> Any:
    """A variable's text as a value: lists are separated by commas; the rest msgspec reads from text itself."""
    if isinstance(setting.default, tuple):
        return [item for part in text.split(",") if (item := part.strip())]
    return text


def _unknown_name(name: str, value: Any, origin: Origin) -> SettingsError:
    near = nearest_name(name)
    hint = f"Did you mean `{near}`?" if near else f"Known settings: {', '.join(SETTINGS)}."
    return SettingsError(f"{_place(origin)}: unknown setting `{name}` (given {show_value(value)}).", hint=hint)


def _place(origin: Origin) -> str:
    match origin.layer:
        case "environment":
            return f"Environment variable {origin.where}"
        case "user" | "project":
            return f"Settings file {origin.where}"
        case _:
            return "Settings given as an argument"


def _use_whole(settings: Settings, switches: Switches) -> LoadedSettings:
    origin = Origin("argument")
    for info in SETTINGS.values():
        _check_value(info, msgspec.to_builtins(info.value_in(settings)), origin)
    return LoadedSettings(settings, dict.fromkeys(SETTINGS, origin), switches)


def _assemble(values: Mapping[str, Any]) -> Settings:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        *groups, key = name.split(".")
        table = tree
        for group in groups:
            table = table.setdefault(group, {})
        table[key] = value
    return msgspec.convert(tree, Settings)
