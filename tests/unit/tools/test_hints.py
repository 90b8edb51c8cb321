"""What clients are told of each tool besides its description."""

import pytest

from pisces.tools.hints import hints, meta
from pisces.tools.registry import BUILT_IN

EVERY = pytest.mark.parametrize("tool", [*sorted(BUILT_IN), "a_function_of_theirs"])


@EVERY
def test_each_tool_says_whether_it_only_reads_may_destroy_and_can_be_repeated(tool: str) -> None:
    said = hints(tool)
    assert {"readOnlyHint", "destructiveHint", "idempotentHint"} <= said.keys()
    assert said["readOnlyHint"] is (tool == "read")
    assert said["destructiveHint"] is (tool != "read")
    assert said["idempotentHint"] is (tool in {"read", "write"})


@EVERY
def test_python_alone_is_kept_at_hand(tool: str) -> None:
    assert meta(tool) == ({"anthropic/alwaysLoad": True} if tool == "python" else {})
