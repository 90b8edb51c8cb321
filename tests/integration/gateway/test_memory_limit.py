"""A memory limit is for kernels of ours: where a gateway has them, it is said that there is none."""

import os
from pathlib import Path

from pisces import Runtime
from tests.fakes.local_gateways import LocalGateways
from tests.fakes.runtimes import call, runtime_on
from tests.fakes.servers import Server

SAID = "python.memoryLimitMb has no effect on a gateway: this kernel has no limit of ours."


async def test_a_limit_that_an_external_gateway_does_not_keep_is_told_once(
    kernel_gateway: Server, plain_python: str, tmp_path: Path
) -> None:
    environ = {"PI_PYTHON_GATEWAY_URL": kernel_gateway.url, "PI_PYTHON_GATEWAY_TOKEN": kernel_gateway.token}
    async with runtime_on(plain_python, tmp_path, environ=environ, memory_limit_mb=500) as runtime:
        assert SAID in (await call(runtime, "1")).text
        assert (await call(runtime, "2")).text == "2"


async def test_a_limit_that_the_shared_gateway_does_not_keep_is_told_once(
    gateways: LocalGateways, tmp_path: Path
) -> None:
    python = {"interpreter": gateways.interpreter, "backend": "gateway", "memoryLimitMb": 500}
    async with Runtime(cwd=tmp_path, settings={"python": python}, environ=os.environ) as runtime:
        assert SAID in (await call(runtime, "1")).text
        assert (await call(runtime, "2")).text == "2"
