"""The displays of the big libraries, for real, in an interpreter that has them."""

from pathlib import Path

import pytest

from pisces import Runtime, ToolResult
from pisces.model.results import ImageBlock

pytestmark = [pytest.mark.heavy, pytest.mark.processes]


async def run(interpreter: Path, code: str) -> ToolResult:
    async with Runtime(settings={"python.interpreter": str(interpreter)}) as runtime:
        result = await runtime.python(code=code, timeout=120)
        assert result.details.outcome == "ok", result.text
        return result


async def test_a_table_of_pandas_arrives_as_text_with_its_shape_among_the_variables(heavy_python: Path) -> None:
    result = await run(heavy_python, "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': [3.5, 4.5]})\ndf")
    assert result.text.splitlines() == ["   a    b", "0  1  3.5", "1  2  4.5"]
    added = {variable.name: variable.size for variable in result.details.variables.added}
    assert added["df"] == "(2, 2)"


async def test_an_estimator_of_scikit_learn_arrives_as_text_not_as_html(heavy_python: Path) -> None:
    result = await run(heavy_python, "from sklearn.linear_model import Ridge\nRidge(alpha=0.5)")
    assert result.text == "Ridge(alpha=0.5)"


async def test_a_large_figure_arrives_once_and_scaled_for_the_model(heavy_python: Path) -> None:
    code = "import matplotlib.pyplot as plt\nfigure = plt.figure(figsize=(30, 20), dpi=150)\n_ = plt.plot(range(1000))"
    result = await run(heavy_python, code)
    pictures = [block for block in result.content if isinstance(block, ImageBlock)]
    assert len(pictures) == len(result.details.images) == 1
    assert max(result.details.images[0].width or 0, result.details.images[0].height or 0) > 1568


async def test_training_in_threads_of_openmp_can_be_interrupted_and_goes_on(heavy_python: Path) -> None:
    fit = "forest = RandomForestClassifier(n_estimators=100_000, n_jobs=2).fit(rows, rows[:, 0] > 0)"
    async with Runtime(settings={"python.interpreter": str(heavy_python), "python.interruptGrace": 20}) as runtime:
        setup = (
            "import numpy as np\nfrom sklearn.ensemble import RandomForestClassifier\nrows = np.random.rand(2000, 20)"
        )
        assert (await runtime.python(code=setup, timeout=120)).details.outcome == "ok"
        stopped = await runtime.python(code=fit, timeout=2)
        assert (stopped.details.outcome, stopped.details.kernel.state) == ("timeout", "kept"), stopped.text
        assert (await runtime.python(code="rows.shape", timeout=60)).text.startswith("(2000, 20)")
