"""Enterprise Gateway as on a cluster of hosts: it starts its kernels elsewhere, by SSH.

The other host is this machine under another address: one of the loopback's, which any user has, or one in a network
of its own, for which one has to be root. The gateway, its launcher and the protocol of SSH are the real ones.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.environments import CALLER, ENVIRONMENTS
from tests.fakes.servers import ENTERPRISE_GATEWAY, Server, free_port, serving
from tests.source_tree import ROOT

KERNELSPEC = "python_distributed"
SLOW = "python_slow"
"""A kernelspec whose kernels take their time to come up."""
_PROXY = "enterprise_gateway.services.processproxies.distributed.DistributedProcessProxy"
_SSH_SERVER = ROOT / "tests" / "fakes" / "ssh_server.py"
_WANTED = ("kernel-launchers", "kubernetes")
"""Of the folder `etc` in the gateway's source."""
_PATIENCE = 300.0
"""For what is downloaded once."""


@dataclass(frozen=True)
class Host:
    """Where kernels are started."""

    address: str
    port: int
    """Of its SSH server."""
    gateway: str
    """The address by which the gateway is found from there."""


@dataclass(frozen=True)
class Cluster:
    """A gateway, and the host that it starts kernels on."""

    server: Server
    host: Host
    launcher: Path

    def kernels(self) -> list[psutil.Process]:
        """The processes on the host that the gateway has started, and theirs."""
        return [process for process in psutil.process_iter() if self._is_kernel(process)]

    def _is_kernel(self, process: psutil.Process) -> bool:
        try:
            return str(self.launcher) in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


@contextmanager
def cluster(interpreter: str, folder: Path, place: str) -> Iterator[Cluster]:
    """A gateway whose kernels run on another host: `loopback` or `namespace`; `folder` is a home for both."""
    launcher = folder / "launch_ipykernel.py"
    shutil.copy(launchers(interpreter) / "python" / "scripts" / launcher.name, launcher)
    install(folder, KERNELSPEC, described(interpreter, launcher))
    slow = folder / "slowly.py"
    late = "import sys, time, runpy; time.sleep(8); runpy.run_path(sys.argv.pop(1), run_name='__main__')\n"
    slow.write_text(late, encoding="utf-8")
    install(folder, SLOW, described(interpreter, slow, str(launcher)))
    elsewhere = {"loopback": on_loopback, "namespace": in_namespace}[place]
    with elsewhere(interpreter, folder) as host:
        env = {
            "EG_REMOTE_HOSTS": host.address,
            "EG_SSH_PORT": str(host.port),
            "EG_RESPONSE_IP": host.gateway,
            "EG_RESPONSE_PORT": str(free_port()),
            "EG_KERNEL_LOG_DIR": str(folder),
            "EG_DEFAULT_KERNEL_NAME": KERNELSPEC,
        }
        with serving(ENTERPRISE_GATEWAY, interpreter, folder, env=env) as server:
            yield Cluster(server, host, launcher)


def install(home: Path, name: str, described: Mapping[str, Any]) -> None:
    """Have a gateway with this home offer a kernel."""
    target = home / "jupyter_data_dir" / "kernels" / name
    target.mkdir(parents=True)
    (target / "kernel.json").write_text(json.dumps(described), encoding="utf-8")


def described(interpreter: str, launcher: Path, *arguments: str) -> dict[str, Any]:
    """The kernel, as the kernelspecs that come with the gateway describe it."""
    options = {
        "--kernel-id": "{kernel_id}",
        "--response-address": "{response_address}",
        "--public-key": "{public_key}",
        "--port-range": "{port_range}",
        "--spark-context-initialization-mode": "none",
    }
    return {
        "display_name": "Python elsewhere",
        "language": "python",
        "metadata": {"process_proxy": {"class_name": _PROXY}},
        "argv": [interpreter, str(launcher), *arguments, *(word for pair in options.items() for word in pair)],
    }


def launchers(interpreter: str) -> Path:
    """The folder of what starts kernels elsewhere."""
    return sources(interpreter) / "kernel-launchers"


def sources(interpreter: str) -> Path:
    """What only the source of the gateway has, which is fetched once: its launchers, and its chart for Helm."""
    target = ENVIRONMENTS / "enterprise-sources"
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=ENVIRONMENTS) as name:
            fetched = fetch(interpreter, Path(name))
            with contextlib.suppress(OSError):  # Another worker was quicker.
                fetched.rename(target)
    return target


def fetch(interpreter: str, folder: Path) -> Path:
    """Download the source of the gateway that is installed, checked by its hash, and take out what is wanted."""
    locked = (ROOT / "requirements" / "enterprise.txt").read_text(encoding="utf-8")
    entry = re.search(r"^jupyter-enterprise-gateway==.*(?:\n +--hash=.*)+", locked, re.MULTILINE)
    assert entry, "the versions of the tests name no Enterprise Gateway"
    wanted = folder / "wanted.txt"
    wanted.write_text(entry[0], encoding="utf-8")
    command = [interpreter, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", ":all:", "--require-hashes", "--requirement", str(wanted), "--dest", str(folder)]
    done = subprocess.run(
        command,
        env=CALLER,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"the source of Enterprise Gateway could not be fetched:\n{done.stderr}", pytrace=False)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        wanted_in = re.compile(rf"[^/]+/etc/(?:{'|'.join(_WANTED)})/")
        members = [member for member in packed.getmembers() if wanted_in.match(member.name)]
        packed.extractall(folder, members, filter="data")
    return folder / members[0].name.partition("/")[0] / "etc"


@contextmanager
def on_loopback(interpreter: str, home: Path) -> Iterator[Host]:
    """A second address of this machine; the gateway takes only the first for its own, and uses SSH."""
    address = "127.0.0.2"
    with ssh_server([interpreter], home, address) as (port, _):
        yield Host(address, port, "127.0.0.1")


@contextmanager
def in_namespace(interpreter: str, home: Path) -> Iterator[Host]:
    """A network that has only a cable to this one; it vanishes with its last process. Skips who may not have one."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a network")
    if missing := [tool for tool in ("ip", "unshare", "nsenter") if shutil.which(tool) is None]:
        pytest.skip(f"a network is made with {' and '.join(missing)}, which is not here")
    block = os.getpid() % (1 << 15) * 4
    outside, inside = (f"198.{18 + (block >> 16)}.{block >> 8 & 255}.{(block & 255) + last}" for last in (1, 2))
    cable = f"pisces{os.getpid()}"
    with ssh_server(["unshare", "--net", interpreter], home, inside) as (port, pid):
        there = ["nsenter", f"--net=/proc/{pid}/ns/net"]
        try:
            network(["ip", "link", "add", cable, "type", "veth", "peer", "name", "cable", "netns", str(pid)])
            network(["ip", "address", "add", f"{outside}/30", "dev", cable])
            network(["ip", "link", "set", cable, "up"])
            network([*there, "ip", "address", "add", f"{inside}/30", "dev", "cable"])
            network([*there, "ip", "link", "set", "cable", "up"])
            network([*there, "ip", "link", "set", "lo", "up"])
            yield Host(inside, port, outside)
        finally:
            subprocess.run(["ip", "link", "delete", cable], capture_output=True, check=False)


def network(command: list[str]) -> None:
    """One step of making a network. Skips where this is not permitted, as in many containers."""
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        pytest.skip(f"no network can be made here: {done.stderr.strip()}")


@contextmanager
def ssh_server(start: list[str], home: Path, address: str) -> Iterator[tuple[int, int]]:
    """An SSH server that the user of this home may use without a password; its port, and its process."""
    command = [*start, str(_SSH_SERVER), str(home), address]
    with (home / "ssh.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port:
            said = (home / "ssh.log").read_text(encoding="utf-8", errors="replace")
            pytest.skip(f"no SSH server can be started here: {said[-500:]}")
        yield int(port), process.pid
    finally:
        process.communicate()
