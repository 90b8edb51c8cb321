"""A home with an rc file of bash, for tests of what commands see of it."""

from collections.abc import Mapping
from pathlib import Path

from pisces.environment.shell_snapshot import SNAPSHOT_VARIABLE, snapshot_path
from pisces.settings.paths import Paths
from tests.fakes.drive import plain_environment


def write_rc(home: Path, text: str) -> Path:
    """Give this home an rc file that, like most, does nothing in a shell that is not interactive."""
    home.mkdir(exist_ok=True)
    rc = home / ".bashrc"
    rc.write_text(f"case $- in *i*) ;; *) return ;; esac\n{text}\n", encoding="utf-8")
    return rc


def environment_with_rc(home: Path, text: str, **more: str) -> Mapping[str, str]:
    """The environment of a kernel of whoever has such an rc file."""
    write_rc(home, text)
    env = plain_environment(HOME=str(home), PISCES_HOME=str(home / ".pisces"), **more)
    return {**env, SNAPSHOT_VARIABLE: str(snapshot_path(env, Paths.locate(env)))}
