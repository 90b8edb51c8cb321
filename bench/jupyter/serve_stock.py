"""The host process of the stock client: the orders and answers of `bench.subjects.serve`, without anything of ours.

python -m bench.jupyter.serve_stock [OPTION OF THE GATEWAY]...
"""

import gc
import json
import sys
import time
from typing import Any

from bench.jupyter.stock import StockClient, StockGateway
from bench.subjects.memory import MemoryWatch


def _round_trips(client: StockClient, count: int) -> list[float]:
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        answer = client.evaluate("1+1")
        seconds.append(time.perf_counter() - began)
        if answer != "2":
            raise RuntimeError(f"1+1 gave {answer!r}")
    return seconds


def _output(client: StockClient, code: str) -> dict[str, Any]:
    gc.collect()
    memory = MemoryWatch()
    began = time.perf_counter()
    size = client.print_much(code)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "growth_mb": memory.growth(), "size": size, "sha256": None}


def _serve(client: StockClient) -> None:
    while line := sys.stdin.readline():
        order = json.loads(line)
        if "round_trips" in order:
            answer: Any = _round_trips(client, order["round_trips"])
        else:
            answer = _output(client, order["output"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    gateway = StockGateway(sys.executable, *sys.argv[1:])
    try:
        client = StockClient(gateway.url, gateway.token)
        _serve(client)
        client.stop()
    finally:
        gateway.stop()
