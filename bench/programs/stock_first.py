"""The first result through a stock gateway and a stock client: of a gateway that it starts, or of the one it is given.

python -m bench.programs.stock_first [URL TOKEN], in the interpreter that has them.
"""

import sys

from bench.jupyter.stock import StockClient, StockGateway

gateway = StockGateway(sys.executable) if len(sys.argv) == 1 else None
url, token = (gateway.url, gateway.token) if gateway is not None else sys.argv[1:]
client = StockClient(url, token)
print(client.evaluate("1+1"), flush=True)
client.stop()
if gateway is not None:
    gateway.stop()
