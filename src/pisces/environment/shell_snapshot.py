"""Which file the snapshot of the user's shell is in.

What is in it, and who takes it, is the guest's affair (`guest/shell_snapshot.py`): a command in a cell needs it as much
as one of the `bash` tool. Nothing is run here, and nobody pays for a snapshot before the first command.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from pisces.settings.paths import Paths

SNAPSHOT_VARIABLE: Final = "PI_SHELL_SNAPSHOT"
_RC_FILE: Final = ".bashrc"


def snapshot_path(environ: Mapping[str, str], paths: Paths) -> Path:
    """The file of the snapshot as the rc file is now: once that has changed, it is another one.

    The guest computes the name too, and takes no snapshot under the name of another state of things.
    """
    rc = os.path.join(environ.get("HOME") or os.path.expanduser("~"), _RC_FILE)
    try:
        status = os.stat(rc)
        state = f"{status.st_mtime_ns}:{status.st_size}"
    except OSError:
        state = "-"
    named = "\0".join((_bash(environ), os.path.dirname(rc), rc, state))
    return paths.cache / "shell" / f"{sha256(os.fsencode(named)).hexdigest()[:16]}.sh"


def _bash(environ: Mapping[str, str]) -> str:
    """The user's own shell if that is bash, else the first on PATH outside of environments; empty if there is none."""
    own = environ.get("SHELL", "")
    if os.path.basename(own) == "bash" and os.access(own, os.X_OK):
        return own
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, "bash")
        can_run = os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK)
        if can_run and not _of_environment(folder, environ):
            return path
    return ""


def _of_environment(folder: str, environ: Mapping[str, str]) -> bool:
    """Whether a folder of PATH has the programs of a virtual or a conda environment, which may be a project's."""
    folder = os.path.normpath(folder)
    active = [os.path.join(environ[name], "bin") for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)]
    if folder in map(os.path.normpath, active):
        return True
    return any(os.path.lexists(os.path.join(folder, os.pardir, name)) for name in ("pyvenv.cfg", "conda-meta"))
