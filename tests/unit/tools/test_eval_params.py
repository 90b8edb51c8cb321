"""What `eval` takes: wrong parameters, and languages that are not there, are refused before anything is run."""

import math
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import InvalidCall
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import MemoryBackend
from pisces.tools.eval_params import EvalCell, deadline_of
from tests.fakes.languages import evaluate, speaking_runtime
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import details

CELL = {"language": "py", "code": "x"}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "missing required field `cells`"),
        ({"cells": []}, "Wrong value for `cells`: Expected `array` of length >= 1, got []"),
        ({"cells": [{"code": "1"}]}, "Wrong value for `cells[0]`: Object missing required field `language`"),
        ({"cells": [{"language": "py"}]}, "Wrong value for `cells[0]`: Object missing required field `code`"),
        ({"cells": [{**CELL, "lang": "py"}]}, "unknown field `lang`"),
        ({"cells": [{**CELL, "language": ""}]}, "Wrong value for `cells[0].language`: Expected `str` of length >= 1"),
        ({"cells": [CELL, {**CELL, "language": " "}]}, "`cells[1].language`: a name that can be shown on one line"),
        ({"cells": [{**CELL, "language": "a\x1b[2J"}]}, "a name that can be shown on one line is needed"),
        ({"cells": [CELL, {**CELL, "timeout": math.nan}]}, "`cells[1].timeout`: a number of seconds is needed"),
        ({"cells": [{**CELL, "timeout": "5"}]}, 'Wrong value for `cells[0].timeout`: Expected `float | null`, got "5"'),
        ({"cells": [{**CELL, "reset": 1}]}, "Wrong value for `cells[0].reset`: Expected `bool`, got 1"),
        ({"cells": [CELL], "session": "a\nb"}, "`session`: a name that can be shown on one line is needed"),
        ({"cells": [CELL], "timeout": 5}, "Unknown parameter `timeout`. Parameters: cells, session"),
        ({"cells": [CELL], "reset": True}, "Unknown parameter `reset`"),
        ({"cells": [CELL], "background": True}, "Unknown parameter `background`"),
    ],
)
async def test_wrong_parameters_are_refused_and_nothing_is_run(
    tmp_path: Path, params: dict[str, Any], message: str
) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime:
        result = await runtime.tool("eval", params)
    assert result.text.startswith("Error: ")
    assert message in result.text
    assert (result.is_error, result.details, backend.kernels) == (True, None, [])


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (None, 30),
        (0, math.inf),
        (-0.0, math.inf),
        (0.2, 1),
        (-5, 1),
        (90, 90),
        (3600, 3600),
        (1e9, 3600),
        (math.inf, 3600),
    ],
)
def test_a_cell_has_thirty_seconds_or_what_it_asks_for_and_zero_is_no_limit(asked: float | None, given: float) -> None:
    assert deadline_of(EvalCell("py", "x", timeout=asked)).seconds == given


async def test_a_language_that_is_not_there_is_refused_with_those_that_are_and_nothing_is_run(tmp_path: Path) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime:
        result = await evaluate(runtime, [("py", "x = 1"), ("bash", "x = 2"), ("rust", "x"), ("julia", "x")])
    first, second = result.text.splitlines()
    assert first == "Error: There is no kernel for the languages 'rust', 'julia'. Nothing was run."
    assert second.startswith("Available: py (the configured Python); bash (kernelspec bash); ")
    assert "; typescript (kernelspecs deno, tslab)" in second
    assert (result.is_error, result.details, backend.kernels) == (True, None, [])


@pytest.mark.parametrize(
    ("asked", "kernelspec"),
    [
        ("py", ""),
        ("Python", ""),
        ("bash", "bash"),
        ("BASH", "bash"),
        ("deno", "deno"),
        ("tslab", "tslab"),
        ("TypeScript", "deno"),
    ],
)
async def test_a_language_is_the_name_of_a_kernelspec_or_the_first_that_runs_it(
    tmp_path: Path, asked: str, kernelspec: str
) -> None:
    backend = MemoryBackend(remembering)
    async with speaking_runtime(backend, tmp_path) as runtime:
        result = await evaluate(runtime, [(asked, "x")])
    (kernel,) = backend.kernels
    assert kernel.spec.kernelspec == kernelspec
    (cell,) = details(result).cells
    assert cell.language == asked
    assert cell.kernel is not None
    assert cell.kernel.interpreter == (f"kernelspec {kernelspec}" if kernelspec else kernel.spec.interpreter)


class Elsewhere(MemoryBackend):
    """Stands for an external gateway, which says itself what it has."""

    def __init__(self) -> None:
        super().__init__(remembering)
        self.asked = 0

    async def kernelspecs(self, deadline: Deadline) -> dict[str, str]:
        self.asked += 1
        return {"R_docker": "R", "python3": "python"}


GATEWAY = {"PI_PYTHON_GATEWAY_URL": "http://127.0.0.1:1"}


async def test_on_an_external_gateway_its_own_kernelspecs_count(tmp_path: Path) -> None:
    backend = Elsewhere()
    async with speaking_runtime(backend, tmp_path, environ=GATEWAY) as runtime:
        python = await evaluate(runtime, [("py", "x")])
        asked_for_python = backend.asked
        there = await evaluate(runtime, [("r", "x"), ("r_docker", "x")])
        missing = await evaluate(runtime, [("bash", "x")])
    specs: list[LaunchSpec] = [kernel.spec for kernel in backend.kernels]
    assert [spec.kernelspec for spec in specs] == ["", "R_docker"]
    assert not python.is_error
    assert asked_for_python == 0
    assert not there.is_error
    assert missing.text.endswith(
        "Available: py (the configured Python); R (kernelspec R_docker); python (kernelspec python3)."
    )


async def test_the_library_raises_for_wrong_parameters_only(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        with pytest.raises(InvalidCall, match="NaN"):
            await runtime.eval([{**CELL, "timeout": math.nan}])
        missing = await runtime.eval([{"language": "rust", "code": "x"}])
        there = await runtime.eval([{**CELL}], session="other")
    assert missing.text.startswith("Error: There is no kernel for the language 'rust'")
    assert (there.text, details(there).session) == ("This is a new session 'other'.\n\nunknown", "other")


async def test_the_schema_names_every_parameter_and_forbids_others(tmp_path: Path) -> None:
    async with speaking_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        tool = runtime.tools["eval"]
    assert set(tool.schema["properties"]) == {"cells", "session"}
    assert tool.schema["required"] == ["cells"]
    cell = tool.schema["properties"]["cells"]["items"]
    assert set(cell["properties"]) == {"language", "code", "title", "timeout", "reset"}
    assert cell["required"] == ["language", "code"]
    assert (tool.schema["additionalProperties"], cell["additionalProperties"]) == (False, False)
    assert "py" in tool.description
