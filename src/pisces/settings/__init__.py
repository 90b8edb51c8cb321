"""Settings: what can be chosen, what is chosen now and by whom, and where Pisces keeps its files.

Every layer above reads a `Settings` that was checked here once, and none reads a file or variable for itself.
Below it there are only `pisces.errors`, the standard library and msgspec.
"""

from pisces.settings.load import LoadedSettings, Origin, load_settings
from pisces.settings.paths import Paths, make_private
from pisces.settings.schema import EnvSettings, OutputSettings, PythonSettings, Settings
from pisces.settings.switches import Switches, read_switches

__all__ = [
    "EnvSettings",
    "LoadedSettings",
    "Origin",
    "OutputSettings",
    "Paths",
    "PythonSettings",
    "Settings",
    "Switches",
    "load_settings",
    "make_private",
    "read_switches",
]
