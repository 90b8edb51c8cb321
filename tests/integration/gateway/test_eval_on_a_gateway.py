"""The `eval` tool where the backend is the shared gateway: every language runs there."""

import os
from pathlib import Path

from pisces.runtime import Runtime
from tests.fakes.languages import evaluate
from tests.fakes.local_gateways import LocalGateways
from tests.fakes.runtimes import details


async def test_on_the_shared_gateway_every_language_runs_there(gateways: LocalGateways, tmp_path: Path) -> None:
    settings = {"python": {"interpreter": gateways.interpreter, "backend": "gateway"}}
    async with Runtime(cwd=tmp_path, settings=settings, environ=os.environ) as runtime:
        first = await evaluate(runtime, [("py", "x = 1; import os; os.getppid()"), ("deno", "let x = 2")])
        second = await evaluate(runtime, [("py", "x"), ("typescript", "x"), ("py", "x += 1; x")])
        missing = await evaluate(runtime, [("py", "x = 0"), ("cobol", "x")])
        after = await evaluate(runtime, [("py", "x")])
    assert int(details(first).cells[0].output) == gateways.record.pid
    assert [cell.output.strip() for cell in details(second).cells] == ["1", "2", "2"]
    kernels = [cell.kernel for cell in details(second).cells if cell.kernel is not None]
    assert [(kernel.backend, kernel.interpreter) for kernel in kernels[:2]] == [
        ("gateway", gateways.interpreter),
        ("gateway", "kernelspec deno"),
    ]
    assert "typescript (kernelspec deno)" in missing.text
    assert after.text == "2"
