"""100 MB of output in lines of 1 KB."""

from bench.printing import Printed, Printing, measure_printing
from bench.report import Measurement
from bench.sandbox import Sandbox

_LINES = 102_400
_CODE = f"""
pad = "x" * 1015
for i in range({_LINES}):
    print(f"{{i:08d}}{{pad}}")
"""


def measure(sandbox: Sandbox) -> Measurement:
    pad = "x" * 1015
    printing = Printing(
        title="100 MB of output in 1 KB lines",
        code=_CODE,
        printed=Printed.lines(f"{number:08d}{pad}" for number in range(_LINES)),
        rounds=5,
        pipe_aim=2.0,
    )
    return measure_printing(sandbox, printing)
