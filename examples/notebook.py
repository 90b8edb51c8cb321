"""Run a notebook, look at its variables, mend the cell that failed, and go on from there.

Prints:

    error ran [1, 2] not run [3]
    ['tea', 'cake']
    Replaced cell 2 (code). Notebook now has 4 cells.
    Ran 2 cells; the outputs are in sales.ipynb.
    7
"""

import asyncio
import json
import tempfile
from pathlib import Path

from pisces import Runtime

CELLS = """\
# %% [markdown]
# Sales of a small shop
# %% [code]
sales = {"tea": 3, "cake": 4}
# %% [code]
total = sum(sale.price for sale in sales)
# %% [code]
print(total)
"""


async def main(folder: Path) -> None:
    """What an agent does with a notebook, call by call."""
    async with Runtime(cwd=folder) as rt:
        await rt.tool("write", {"path": "sales.ipynb", "content": CELLS})
        failed = await rt.notebook("run_all", "sales.ipynb")
        print(failed.details.outcome, "ran", failed.details.ran, "not run", failed.details.not_run)
        print((await rt.python(code="list(sales)")).text)
        mended = await rt.notebook("edit", "sales.ipynb", cell_index=2, content="total = sum(sales.values())")
        print(mended.text.splitlines()[0])
        ended = await rt.notebook("run", "sales.ipynb", cell_index=2, last_index=3)
        print(ended.text.splitlines()[-1])
    notebook = json.loads((folder / "sales.ipynb").read_text(encoding="utf-8"))
    print("".join(notebook["cells"][3]["outputs"][0]["text"]), end="")


with tempfile.TemporaryDirectory() as made:
    asyncio.run(main(Path(made)))
