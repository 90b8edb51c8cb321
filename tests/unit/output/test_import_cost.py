"""Loading the output layer loads no library that only some outputs need."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from pisces.output import artifacts, display, html, images, notice, sanitize, sink
print(sorted({"PIL", "html_to_markdown"} & set(sys.modules)))
"""


@pytest.mark.processes
def test_neither_pillow_nor_the_html_converter_is_loaded_up_front() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, encoding="utf-8",
        check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "[]\n"
