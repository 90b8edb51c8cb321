"""The notebooks of other projects are whole, the same for everybody, and got without running their code."""

import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from scripts.fetch_notebooks import REQUIREMENTS, is_complete, unpack
from scripts.make_environment import STAMP, SetUpFailed
from tests.environments import CALLER
from tests.notebook_corpus import FOLDER, corpus, corpus_id, notebooks_interpreter
from tests.source_tree import ROOT


def test_every_project_that_is_fetched_brings_notebooks() -> None:
    wanted = re.findall(r"^([a-z0-9-]+)==", REQUIREMENTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = [corpus_id(path) for path in corpus()]
    assert found == sorted(found, key=lambda name: Path(name).parts)
    assert sorted({name.partition("/")[0] for name in found}) == wanted
    assert [corpus_id(path) for path in corpus("nbclient")] == [name for name in found if name.startswith("nbclient/")]


def test_a_folder_that_is_unfinished_or_of_other_versions_is_not_taken_for_the_notebooks(tmp_path: Path) -> None:
    assert not is_complete(tmp_path / "missing")
    assert not is_complete(tmp_path)
    (tmp_path / STAMP).write_bytes(REQUIREMENTS.read_bytes() + b"more==1 \\\n    --hash=sha256:0\n")
    assert not is_complete(tmp_path)
    (tmp_path / STAMP).write_bytes(REQUIREMENTS.read_bytes())
    assert is_complete(tmp_path)


@pytest.mark.registry
@pytest.mark.processes
def test_fetched_twice_at_once_the_notebooks_are_the_same_and_nothing_else_is_left(tmp_path: Path) -> None:
    corpus()
    target = tmp_path / "notebooks"
    command = [sys.executable, "-m", "scripts.fetch_notebooks", str(target)]
    both = [
        subprocess.Popen(command, cwd=ROOT, env=CALLER, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    said = b"".join(process.communicate()[1] for process in both)
    assert [process.returncode for process in both] == [0, 0], said.decode()
    assert said.count(b"this is done once") == 1
    assert contents(target) == contents(FOLDER)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notebooks", "notebooks.lock"]


def test_notebooks_and_images_beside_them_are_taken_from_a_source_and_nothing_else(tmp_path: Path) -> None:
    names = ["x-1/a/one.ipynb", "x-1/a/one.png", "x-1/a/one.py", "x-1/b/b.png", "x-1/two.ipynb", "x-1/setup.py"]
    assert unpack(archive(tmp_path, names), tmp_path / "out") == 2
    assert sorted(contents(tmp_path / "out")) == ["x/a/one.ipynb", "x/a/one.png", "x/two.ipynb"]


def test_a_source_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    unpack(archive(tmp_path, ["x-1/one.ipynb", "x-1/../../../two.ipynb", "x-1/../../two.png"]), tmp_path / "a" / "out")
    assert sorted(contents(tmp_path / "a")) == ["out/x/one.ipynb"]
    assert not list(tmp_path.rglob("two.*"))


def test_a_source_without_notebooks_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SetUpFailed, match=r"x-1\.tar\.gz has no notebooks"):
        unpack(archive(tmp_path, ["x-1/setup.py"]), tmp_path / "out")


@pytest.mark.processes
def test_the_interpreter_runs_a_notebook_of_the_corpus_with_nbclient(tmp_path: Path) -> None:
    hello = next(path for path in corpus("nbclient") if path.name == "HelloWorld.ipynb")
    done = tmp_path / "done.ipynb"
    command = [notebooks_interpreter(), "-c", "from nbclient.cli import main; main()"]
    command += ["--kernel_name=python3", f"--output={done}", str(hello)]
    subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    [cell] = json.loads(done.read_text(encoding="utf-8"))["cells"]
    assert cell["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["Hello World\n"]}]


def archive(folder: Path, names: list[str]) -> Path:
    path = folder / "x-1.tar.gz"
    with tarfile.open(path, "w:gz") as members:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 2
            members.addfile(member, io.BytesIO(b"{}"))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
