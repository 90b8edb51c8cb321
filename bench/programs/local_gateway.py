"""Starts the local gateway of an interpreter, and prints the seconds that this took. It goes on by itself."""

import os
import sys
import time

import anyio

from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import acquire_shared_gateway
from pisces.kernels.gateway.launch import GatewayPlan
from pisces.kernels.gateway.record import GatewayFolder, venv_of
from pisces.settings.paths import Paths


async def _main(interpreter: str) -> None:
    venv = venv_of(interpreter, os.environ)
    folder = GatewayFolder.locate(Paths.locate(os.environ), interpreter, venv)
    plan = GatewayPlan(interpreter=interpreter, venv=venv, env=dict(os.environ))
    began = time.perf_counter()
    await acquire_shared_gateway(plan, folder, Deadline.after(60))
    print(time.perf_counter() - began, flush=True)


anyio.run(_main, sys.argv[1])
