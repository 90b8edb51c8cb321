"""Install the programs of tests/node/package-lock.json, unless they are there already: Node itself, and MCP clients.

    python -m scripts.make_node_environment TARGET

npm fetches each, by name and checked by hash, from wherever it is set up to fetch from. No package's own set-up script
is run, so that nothing else is fetched. A copy of the lock in TARGET is written last: it is the sign that the
environment is complete.

Any number of these may run at once: one works, the others wait for it.
"""

import argparse
import shutil
import sys
from pathlib import Path

from scripts.make_environment import SetUpFailed, clear, filled_once, report, run

LISTS = Path(__file__).parents[1] / "tests" / "node"
LOCK = LISTS / "package-lock.json"
STAMP = "pisces-lock.json"


def make_node_environment(target: Path) -> Path:
    """Return `target`, which is filled first if it is not complete. Raises `SetUpFailed`."""
    return filled_once(target, is_complete, fill)


def is_complete(target: Path) -> bool:
    """Whether the folder has the programs of just these versions."""
    try:
        return (target / STAMP).read_bytes() == LOCK.read_bytes()
    except FileNotFoundError:
        return False


def fill(target: Path, lock: int) -> None:
    """Install everything. The caller holds the lock."""
    npm = shutil.which("npm")
    if npm is None:
        raise SetUpFailed("There is no npm, which fetches the MCP clients of others and the Node they run on.")
    report(f"making {target} with npm; this is done once")
    clear(target)
    target.mkdir()
    for name in ("package.json", LOCK.name):
        shutil.copyfile(LISTS / name, target / name)
    # In the folder, not with --prefix: npm would look for the machine's configuration there.
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    failure = "The packages could not be installed. Is the network there, and does npm work otherwise?"
    run(command, lock, failure, cwd=target)
    (target / STAMP).write_bytes(LOCK.read_bytes())


def main() -> int:
    """Make the environment that the command line names."""
    parser = argparse.ArgumentParser(description="Install Node and MCP clients, unless they are there already.")
    parser.add_argument("target", type=Path)
    try:
        make_node_environment(parser.parse_args().target)
    except SetUpFailed as error:
        report(str(error))
        return 1
    except KeyboardInterrupt:
        report("interrupted; the next start begins anew")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
