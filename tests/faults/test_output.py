"""Output that comes when nobody expects it."""

from pathlib import Path

from tests.fakes.drive import eventually
from tests.fakes.runtimes import call, runtime_on


# Prints of threads are lost.
async def test_what_a_thread_printed_while_no_cell_ran_comes_with_the_next(plain_python: str, tmp_path: Path) -> None:
    go, said = tmp_path / "go", tmp_path / "said"
    code = f"""
import os, threading, time
def later():
    while not os.path.exists({str(go)!r}): time.sleep(0.01)
    print('from the thread', flush=True)
    open({str(said)!r}, 'w').close()
threading.Thread(target=later).start()
"""
    async with runtime_on(plain_python, tmp_path) as runtime:
        assert (await call(runtime, code)).text == "(no output)"
        go.touch()
        await eventually(said.exists)
        assert (await call(runtime, "print('from the cell')")).text == "from the thread\nfrom the cell"
