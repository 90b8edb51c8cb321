"""Calls of the background host, without one."""

import pytest

from pisces.errors import PiscesError
from pisces.tui.desk import host_link
from pisces.tui.desk.host_link import HostLink


def test_no_host_is_started_for_a_call_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(host_link, "have_host", started.append)
    call = HostLink("/", {}, {}).begin("python", {"code": "1"})
    call._abandon()
    with pytest.raises(PiscesError, match="Nobody waits"):
        call._run()
    assert started == []
