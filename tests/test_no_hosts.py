"""Where packages come from is the affair of the machine that installs them: no file names a registry."""

import json
import re
from pathlib import Path

import pytest

from tests.source_tree import ROOT, project_files

# In parts, so that this file does not name them either.
REGISTRIES = [
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("anaconda", "org"), ("npmjs", "org"))
]
INDEX_OPTION = re.compile(r"--?(index-url|extra-index-url|find-links|trusted-host|i|f)\b")
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def test_no_file_names_a_package_registry() -> None:
    named = [
        f"{path.relative_to(ROOT)}: {registry}"
        for path in project_files()
        for registry in REGISTRIES
        if registry.encode() in path.read_bytes().lower()
    ]
    assert named == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_has_exact_versions_with_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert INDEX_OPTION.search(text) is None
    requirements = text.replace("\\\n", " ").splitlines()
    assert requirements
    for requirement in requirements:
        assert re.match(r"[a-z0-9.-]+==\S+ ", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement


def test_the_lock_of_npm_has_exact_versions_with_hashes_and_no_address() -> None:
    locked = json.loads((ROOT / "tests" / "node" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    wanted = locked.pop("")
    for named in (wanted["dependencies"], wanted["optionalDependencies"]):
        assert all(re.fullmatch(r"(npm:@[a-z/]+@)?\d+\.\d+\.\d+(-[a-z0-9.]+)?", version) for version in named.values())
    for name, package in locked.items():
        assert package["version"], name
        assert package["integrity"].startswith("sha512-"), name
        assert not {"resolved", "link"} & set(package), name


def test_the_same_package_has_the_same_version_in_what_is_installed_together() -> None:
    runtime, dev = (set(pins(ROOT / "requirements" / name)) for name in ("runtime.txt", "dev.txt"))
    assert {pin for pin in runtime if pin not in dev} == set()


def pins(lock: Path) -> list[str]:
    return re.findall(r"^[a-z0-9.-]+==[^\s;]+", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
