"""What shares a server shares a worker, and every file has its tests together."""

import pytest

from tests.schedule import unit_of


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/contract/test_text.py::test_a_null_arrives[memory]", "contract of memory"),
        ("tests/contract/test_errors.py::test_x[native-ipython-import os[1]]", "contract of native-ipython"),
        ("tests/contract/test_errors.py::test_x[no-backend]", "tests/contract/test_errors.py"),
        ("tests/contract/test_errors.py::test_x", "tests/contract/test_errors.py"),
        ("tests/unit/test_y.py::TestIt::test_x[memory]", "tests/unit/test_y.py"),
    ],
)
def test_the_unit_of_a_test(nodeid: str, unit: str) -> None:
    assert unit_of(nodeid) == unit
