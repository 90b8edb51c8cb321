"""`pisces settings`: every setting, its value, and who set it."""

import json
from pathlib import Path

from pisces.settings.schema import SETTINGS
from tests.frontends.command import Command


def test_every_setting_is_listed_with_its_place(pisces: Command, own_home: Path, tmp_path: Path) -> None:
    own = own_home / ".pisces" / "agent" / "settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[output]\nmaxLines = 500\n", encoding="utf-8")
    done = pisces("settings", cwd=tmp_path, variables={"PI_SET__python__kernelMode": "per-call"})
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
    assert list(lines) == list(SETTINGS)
    assert lines["output.maxLines"][1:] == ["500", str(own)]
    assert lines["python.kernelMode"][1:] == ['"per-call"', "PI_SET__python__kernelMode"]
    assert lines["output.maxBytes"][1:] == ["51200", "default"]


def test_json_has_the_same(pisces: Command) -> None:
    listed = json.loads(pisces("settings", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(SETTINGS)
    one = json.loads(pisces("settings", "python.interpreter", "--json").stdout)
    assert (one["layer"], one["where"]) == ("environment", "PI_SET__python__interpreter")


def test_one_setting_is_explained(pisces: Command) -> None:
    done = pisces("settings", "python.kernelMode")
    assert done.stdout.startswith('python.kernelMode = "session"\n')
    assert "Allowed: per-call or session." in done.stdout
