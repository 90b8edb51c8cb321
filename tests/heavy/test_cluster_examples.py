"""The files that docs/cluster.md shows fit the chart of the gateway: a value that a chart does not know is ignored."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.enterprise import sources
from tests.source_tree import ROOT

pytestmark = pytest.mark.heavy

FILES = ROOT / "examples" / "cluster"
FREE = {"deployment.extraEnv", "deployment.resources", "ingress.annotations", "ingress.tls"}
"""Values of the chart whose insides it does not look at, or that it has no default for."""


def documents(interpreter: str, path: Path) -> list[Any]:
    """What is in a YAML file, read by the gateway's library."""
    program = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))"
    command = [interpreter, "-c", program]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=True)
    read: list[Any] = json.loads(done.stdout)
    return read


def paths_in(values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of the values, as `helm --set` writes them."""
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, dict) and path not in FREE:
            yield from paths_in(value, f"{path}.")
        else:
            yield path


@pytest.mark.parametrize("name", ["values.yaml", "ingress.yaml"])
def test_every_value_is_one_of_the_chart(enterprise_python: str, name: str) -> None:
    chart = sources(enterprise_python) / "kubernetes" / "helm" / "enterprise-gateway"
    (known,) = documents(enterprise_python, chart / "values.yaml")
    (given,) = documents(enterprise_python, FILES / name)
    assert set(paths_in(given)) - set(paths_in(known)) - FREE == set()


def test_the_account_of_the_gateway_and_that_of_kernels_are_those_that_have_been_given_rights(
    enterprise_python: str,
) -> None:
    (values,) = documents(enterprise_python, FILES / "values.yaml")
    rights = documents(enterprise_python, FILES / "rights.yaml")
    accounts = {document["metadata"]["name"] for document in rights if document["kind"] == "ServiceAccount"}
    assert accounts == {
        values["deployment"]["serviceAccountName"],
        values["kernel"]["defaultServiceAccountName"],
    }
    (binding,) = (document for document in rights if document["kind"] == "RoleBinding")
    assert [subject["name"] for subject in binding["subjects"]] == [values["deployment"]["serviceAccountName"]]
