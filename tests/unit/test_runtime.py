"""What a runtime sees to by itself, on scripted kernels."""

import os
import time
from pathlib import Path

import pytest

from pisces.output.artifacts import ArtifactStore
from tests.fakes.drive import eventually
from tests.fakes.runtimes import call, details, scripted_runtime

DAY = 86_400


async def test_artifacts_that_were_kept_for_long_enough_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ArtifactStore(scripted_runtime({}, tmp_path).paths.artifacts)
    older, newer = (store.path(store.add_bytes("s", "python", b"text", extension="log")) for _ in range(2))
    now = time.time()
    for artifact, days in ((older, 3.5), (newer, 1.5)):
        os.utime(artifact, (now - days * DAY,) * 2)
    with monkeypatch.context() as yesterday:
        yesterday.setattr("time.time", lambda: now - 1.1 * DAY)
        store.prune(2)
    async with scripted_runtime({}, tmp_path, output={"keep_days": 2}):
        await eventually(lambda: not older.exists())
    assert newer.exists()


async def test_artifacts_that_cannot_be_deleted_disturb_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_store: ArtifactStore, _keep_days: float) -> int:
        raise PermissionError("no")

    monkeypatch.setattr(ArtifactStore, "prune", refuse)
    runtime = scripted_runtime({"ok": []}, tmp_path)
    runtime.paths.artifacts.mkdir(parents=True)
    async with runtime:
        await eventually(lambda: "old artifacts were not deleted: no" in caplog.text)
        assert details(await call(runtime, "ok")).outcome == "ok"
