"""A build backend that builds nothing: asked what a source distribution is, it hands over what the archive says itself.

pip downloads a source distribution only together with its metadata, for which it runs the project's own backend: that
takes its requirements, its time, and code of the project. Copied to where the backends are looked for, this file
answers instead. Every source distribution carries its metadata ready, as PKG-INFO.
"""

import shutil
import sys
from email.parser import HeaderParser
from pathlib import Path


def prepare_metadata_for_build_wheel(
    metadata_directory: str,
    config_settings: object = None,  # noqa: ARG001  # every backend takes it
) -> str:
    """Copy the metadata of the unpacked archive in the current folder; the name of the copy's folder is returned."""
    written = Path("PKG-INFO")
    headers = HeaderParser().parsestr(written.read_text(encoding="utf-8"))
    folder = Path(metadata_directory, f"{headers['Name'].replace('-', '_')}-{headers['Version']}.dist-info")
    folder.mkdir()
    shutil.copyfile(written, folder / "METADATA")
    return folder.name


# The name under which a project that names no backend asks for that of setuptools.
__legacy__ = sys.modules[__name__]
