"""The helpers on files and text work in every Python from 3.9 on, with nothing of ours and no library around them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_tree import ROOT

pytestmark = pytest.mark.processes

GUEST = ROOT / "src" / "pisces" / "guest"
PROGRAM = """
import importlib, importlib.util, json, sys
spec = importlib.util.spec_from_file_location("_pisces_guest", sys.argv[1], submodule_search_locations=[sys.argv[2]])
package = importlib.util.module_from_spec(spec)
sys.modules["_pisces_guest"] = package
spec.loader.exec_module(package)
names = importlib.import_module("_pisces_guest.prelude.names")
status = importlib.import_module("_pisces_guest.prelude.status")
told = []
status.publish_with(lambda bundle: told.append(bundle[status.MIME]))
globals().update(names.helpers())
write("d/a", "one\\ntwo\\nthree\\n")
append("d/a", "four\\n")
assert read("d/a", 2, 2) == lines("d/a", 2, 3) == "two\\nthree\\n"
cp("d/a", "d/b")
assert (sed("d/b", "^t", "T"), replace("d/b", "one", "1"), rsed("T", "TT", "d")) == (2, 1, 2)
insert_at("d/b", 0, "zero")
delete_lines("d/b", 1)
assert delete_matching("d/b", "four") == 1
assert diff("d/a", "d/b").startswith("--- d/a\\n+++ d/b\\n@@ -1,4 +1,3 @@\\n-one\\n")
assert stat("d/a")["mode"] == "0644"
cp("d", "e")
mv("e", "f/g")
rm("f", recursive=True)
assert sort_lines("b\\na\\n") == "a\\nb\\n" and uniq("a\\na") == "a"
assert counter("a\\na") == [(2, "a")] and cols("a b", 1) == "b"
for call in (lambda: read("no"), lambda: sed("d/a", "(", ""), lambda: output("../x"), lambda: read(None)):
    try:
        call()
    except (OSError, ValueError, TypeError):
        pass
    else:
        raise SystemExit("it did not fail")
print(json.dumps([event["op"] for event in told if "error" not in event]))
print(json.dumps([event["error"].partition(":")[0] for event in told if "error" in event]))
"""


@pytest.mark.parametrize("name", ["python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"])
def test_every_helper_works_in_an_isolated_interpreter(name: str, tmp_path: Path) -> None:
    interpreter = sys.executable if name == f"python3.{sys.version_info[1]}" else shutil.which(name)
    if interpreter is None or run(interpreter, "pass", tmp_path).returncode != 0:
        pytest.skip(f"{name} is not installed here")
    done = run(interpreter, PROGRAM, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    ops, errors = done.stdout.splitlines()
    assert ops == (
        '["write", "append", "read", "lines", "cp", "sed", "replace", "rsed", "insert_at", "delete_lines", '
        '"delete_matching", "diff", "stat", "cp", "mv", "rm", "sort_lines", "uniq", "counter", "cols"]'
    )
    assert errors == '["FileNotFoundError", "ValueError", "ValueError", "TypeError"]'


def run(interpreter: str, program: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [interpreter, "-I", "-S", "-W", "error", "-c", program, str(GUEST / "__init__.py"), str(GUEST)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        umask=0o022,
        timeout=60,
        check=False,
    )
