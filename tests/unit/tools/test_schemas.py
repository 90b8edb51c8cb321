"""The tools as APIs want them described, with a runtime and without one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest

import pisces.tools
from pisces.errors import InvalidCall
from pisces.mcp.listing import listed
from pisces.runtime import Runtime
from pisces.tools import Dispatcher, schemas
from pisces.tools.agent_schemas import Kind
from pisces.tools.registry import DEFAULT_TOOLS, FURTHER_TOOLS
from tests.fakes.runtimes import scripted_runtime

ALL = (*DEFAULT_TOOLS, *FURTHER_TOOLS)
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_BYTES = 8_000
"""Of the usual tools: a model reads them in each call."""


def parameters(tool: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema in a description of any kind."""
    function = tool.get("function", tool)
    found = [function[name] for name in ("input_schema", "inputSchema", "parameters") if name in function]
    assert len(found) == 1
    schema: dict[str, Any] = found[0]
    return schema


def names(described: list[dict[str, Any]]) -> list[str]:
    return [tool.get("function", tool)["name"] for tool in described]


def test_no_description_has_a_model_name_the_default_session_which_is_not_that_of_each_client() -> None:
    assert "`default`" not in json.dumps(schemas("mcp", ALL))


@pytest.mark.parametrize("kind", KINDS)
def test_each_schema_is_one_of_draft_2020_12_and_survives_json(kind: Kind) -> None:
    described = schemas(kind, ALL)
    assert names(described) == list(ALL)
    assert json.loads(json.dumps(described)) == described
    for tool in described:
        jsonschema.Draft202012Validator.check_schema(parameters(tool))
        assert parameters(tool)["type"] == "object"


@pytest.mark.parametrize("kind", KINDS)
def test_the_usual_tools_are_few_and_small(kind: Kind) -> None:
    described = schemas(kind)
    assert names(described) == ["python", "notebook", "session"]
    assert len(json.dumps(described, separators=(",", ":"), ensure_ascii=False).encode()) < MOST_BYTES


def test_each_api_gets_the_fields_it_knows() -> None:
    def fields(kind: Kind) -> set[str]:
        return set(schemas(kind, ["bash"])[0])

    assert fields("anthropic") == {"name", "description", "input_schema"}
    assert fields("openai") == {"type", "name", "description", "parameters", "strict"}
    assert fields("openai-chat") == {"type", "function"}
    assert fields("mcp") == {"name", "description", "inputSchema", "annotations"}
    assert set(schemas("openai-chat", ["bash"])[0]["function"]) == {"name", "description", "parameters"}


def test_parameters_that_can_be_left_out_stay_so_in_responses() -> None:
    (bash,) = schemas("openai", ["bash"])
    assert bash["strict"] is False
    assert set(bash["parameters"]["required"]) < set(bash["parameters"]["properties"])


async def test_without_a_runtime_the_tools_are_those_of_one_without_modules(runtime: Runtime) -> None:
    for kind in KINDS:
        assert schemas(kind, ALL) == schemas(kind, ALL, runtime=runtime)
    assert "Helpers in every kernel" in schemas("anthropic", "python")[0]["description"]


async def test_the_description_for_mcp_is_what_the_server_lists(runtime: Runtime) -> None:
    served = [listed(runtime.tools[name], with_output=False) for name in ALL]
    assert schemas("mcp", ALL) == [tool.model_dump(by_alias=True, exclude_none=True) for tool in served]


async def test_a_runtime_tells_of_its_functions_and_of_its_modules(runtime: Runtime) -> None:
    @runtime.register
    def weather(city: str) -> str:
        """Tell the weather."""
        return city

    modules = runtime.cwd / ".pisces" / "modules"
    modules.mkdir(parents=True)
    own = 'from pisces_prelude import helper\n\n\n@helper("Garden")\ndef prune_roses():\n    """Prune."""\n'
    (modules / "garden.py").write_text(own, encoding="utf-8")
    described = schemas("anthropic", runtime=runtime)
    assert names(described) == ["python", "notebook", "session", "weather"]
    assert described[-1]["description"] == "Tell the weather."
    assert described[-1]["input_schema"]["required"] == ["city"]
    assert names(schemas("openai", ["weather"], runtime=runtime)) == ["weather"]
    assert "prune_roses" in described[0]["description"]
    assert "prune_roses" not in schemas("anthropic")[0]["description"]


async def test_what_the_settings_leave_out_is_left_out_and_bash_takes_the_place_of_python(tmp_path: Path) -> None:
    async with scripted_runtime({}, tmp_path, tool_mode="bash-only") as runtime:
        assert names(schemas("anthropic", runtime=runtime)) == ["bash"]
        with pytest.raises(InvalidCall, match=r"no tool 'python' here: `python\.toolMode` is `bash-only`"):
            schemas("anthropic", ["python"], runtime=runtime)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("anthropc",), "There is no kind of schema 'anthropc'. Kinds: anthropic, openai, openai-chat, mcp"),
        (("openai", ["pyhton"]), "There is no tool 'pyhton'. Tools: python, notebook, session, bash, "),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(arguments: Any, why: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        schemas(*arguments)
    assert why in str(caught.value)


def test_a_runtime_that_has_not_been_entered_is_refused(tmp_path: Path) -> None:
    runtime = scripted_runtime({}, tmp_path)
    for use in (lambda: schemas("openai", runtime=runtime), lambda: Dispatcher(runtime)):
        with pytest.raises(InvalidCall, match="has not been entered"):
            use()


def test_the_names_of_the_package_are_documented_and_loaded_when_they_are_used() -> None:
    assert list(pisces.tools.__all__) == sorted(pisces.tools.__all__) == dir(pisces.tools)
    assert all(getattr(pisces.tools, name).__doc__ for name in pisces.tools.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(pisces.tools, "no_such_name")  # noqa: B009 - the type checker knows that it is not there
    code = "import sys; bare = set(sys.modules); import pisces.tools; print(*sorted(set(sys.modules) - bare))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names} == {
        "pisces",
        "pisces.tools",
    }
