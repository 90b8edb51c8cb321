"""Fetch notebooks that other projects test themselves with, unless they are there already.

    python -m scripts.fetch_notebooks TARGET

The notebooks of each source distribution in requirements/sdists.txt are then at TARGET/<project>/<path in it>, byte
for byte, and so are images in the same folders, because some cells show them. pip fetches the archives, by name and
checked by hash, from wherever it is set up to fetch from; nothing is built, and no code of theirs is run. A copy of
the requirements in TARGET says what it was made from; the folder is put in place when it is complete.

Any number of these may run at once: one works, the others wait for it.
"""

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

from scripts.make_environment import FOREIGN_TARGETS, STAMP, SetUpFailed, clear, filled_once, report

REQUIREMENTS = Path(__file__).parents[1] / "requirements" / "sdists.txt"
BACKEND = Path(__file__).with_name("sdist_backend.py")
BACKENDS = ("hatchling/build.py", "setuptools/build_meta.py")
"""The build backends of the projects; each has a stand-in while pip works."""
IMAGES = (".jpeg", ".jpg", ".png", ".svg")


def fetch_notebooks(target: Path) -> Path:
    """Return `target`, which is filled first if it is not complete.

    Raises `SetUpFailed`. What is left of a failed attempt is never taken for the notebooks.
    """
    return filled_once(target, is_complete, fill)


def is_complete(target: Path) -> bool:
    """Whether the folder has the notebooks of just these versions."""
    try:
        return (target / STAMP).read_bytes() == REQUIREMENTS.read_bytes()
    except FileNotFoundError:
        return False


def fill(target: Path, lock: int) -> None:
    """Fetch everything into a folder beside `target`, and put it in place. The caller holds the lock."""
    report(f"fetching notebooks into {target}; this is done once")
    beside = target.with_name(target.name + ".unfinished")
    clear(beside)
    archives, complete = beside / "archives", beside / "complete"
    download(archives, stand_ins(beside / "backends"), lock)
    complete.mkdir()
    found = [unpack(archive, complete) for archive in sorted(archives.glob("*.tar.gz"))]
    (complete / STAMP).write_bytes(REQUIREMENTS.read_bytes())
    clear(target)
    complete.rename(target)
    clear(beside)
    report(f"{sum(found)} notebooks of {len(found)} projects are there")


def stand_ins(folder: Path) -> Path:
    """Put our backend where pip looks for those of the projects; the folder to search first is returned."""
    for name in BACKENDS:
        module = folder / name
        module.parent.mkdir(parents=True)
        (module.parent / "__init__.py").touch()
        module.write_bytes(BACKEND.read_bytes())
    return folder


def download(folder: Path, backends: Path, lock: int) -> None:
    """Let pip fetch the archives. It shares the lock, so that nobody starts over while it still works."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet"]
    command += ["--progress-bar", "off", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
    command += ["--require-hashes", "--requirement", str(REQUIREMENTS), "--dest", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN_TARGETS}
    environment["PYTHONPATH"] = str(backends.resolve())
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=environment, pass_fds=(lock,), check=False
    )
    if done.returncode != 0:
        raise SetUpFailed(
            "The sources of the projects could not be fetched. Is the network there, and does pip work otherwise? "
            "A backend that is not found has to be named in scripts/fetch_notebooks.py.\n"
            f"This failed with exit code {done.returncode}: {' '.join(command)}"
        )


def unpack(archive: Path, complete: Path) -> int:
    """Write the notebooks of a source distribution, with the images beside them that they show, below its project.

    How many notebooks there are is returned.
    """
    project = archive.name.rsplit("-", 1)[0]
    with tarfile.open(archive) as source:
        inside = {PurePosixPath(*PurePosixPath(member.name).parts[1:]): member for member in source if member.isfile()}
        notebooks = {path for path in inside if path.suffix == ".ipynb" and ".." not in path.parts}
        if not notebooks:
            raise SetUpFailed(
                f"{archive.name} has no notebooks: take {project} out of pyproject.toml's group 'sdists'."
            )
        folders = {path.parent for path in notebooks}
        images = {path for path in inside if path.suffix in IMAGES and path.parent in folders}
        for path in sorted(notebooks | images):
            content = source.extractfile(inside[path])
            assert content is not None
            target = complete / project / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
    return len(notebooks)


def main() -> int:
    """Fetch the notebooks into the folder that the command line names."""
    parser = argparse.ArgumentParser(description="Fetch notebooks to test with, unless they are there already.")
    parser.add_argument("target", type=Path)
    try:
        fetch_notebooks(parser.parse_args().target)
    except SetUpFailed as error:
        report(str(error))
        return 1
    except KeyboardInterrupt:
        report("interrupted; the next start begins anew")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
