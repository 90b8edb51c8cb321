"""One million short prints."""

from bench.printing import Printed, Printing, measure_printing
from bench.report import Measurement
from bench.sandbox import Sandbox

_PRINTS = 1_000_000
_CODE = f"""
for i in range({_PRINTS}):
    print(i)
"""


def measure(sandbox: Sandbox) -> Measurement:
    printing = Printing(
        title="One million short prints",
        code=_CODE,
        printed=Printed.lines(str(number) for number in range(_PRINTS)),
        rounds=3,
    )
    return measure_printing(sandbox, printing)
