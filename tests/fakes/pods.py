"""A stand-in for the API of Kubernetes, as far as Enterprise Gateway uses it: a pod is a process of this machine.

It shows what a gateway asks of a cluster, and what becomes of a kernel whose pod goes. It is no cluster: nothing is
scheduled, no image is fetched, no right is checked. What runs against it is the gateway's own: its part for
Kubernetes, the script that makes a pod from its template, and the script that images start with.
"""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.enterprise import install, launchers
from tests.fakes.servers import ENTERPRISE_GATEWAY, MARK, Server, free_port, serving
from tests.leftovers import COOKIE

KERNELSPEC = "python_kubernetes"
ADDRESS = "127.0.0.3"
"""Of every pod; the gateway finds its own by their ports."""
IMAGE = "elyra/kernel-py:3.3.0"
_PROXY = "enterprise_gateway.services.processproxies.k8s.KubernetesProcessProxy"
_NOT_FOUND = 404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
_EXISTS = 409, {"kind": "Status", "status": "Failure", "reason": "AlreadyExists", "code": 409}
_INHERITED = f"PATH,PYTHONPATH,{MARK},{COOKIE}"

_CREDENTIALS = """\
import os
from kubernetes import client, config

def load_incluster_config(**_):
    there = client.Configuration()
    there.host = f"http://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    client.Configuration.set_default(there)

config.load_incluster_config = load_incluster_config
"""
"""A pod has its credentials in a folder that only root could make here, so the gateway is told that it needs none."""


@dataclass(frozen=True)
class Image:
    """What is run in every pod, whatever image it asks for: what the images of the gateway run."""

    command: list[str]
    variables: Mapping[str, str]
    folder: Path


class Pod:
    """One that runs."""

    def __init__(self, described: Mapping[str, Any], image: "Image") -> None:
        self.described = described
        self.name: str = described["metadata"]["name"]
        (self.container,) = described["spec"]["containers"]
        variables = {entry["name"]: entry["value"] for entry in self.container["env"]}
        self._process = subprocess.Popen(
            image.command,
            env={**variables, **image.variables},
            cwd=image.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def state(self) -> dict[str, Any]:
        """As the API tells it."""
        code = self._process.poll()
        phase = "Running" if code is None else "Succeeded" if code == 0 else "Failed"
        return {**self.described, "status": {"phase": phase, "podIP": ADDRESS, "hostIP": ADDRESS}}

    def end(self) -> None:
        """At once, with all that runs in it."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Cluster:
    """What the stand-in has been asked to make."""

    def __init__(self, image: Image) -> None:
        self.namespaces: set[str] = set()
        self.pods: dict[str, Pod] = {}
        self.asked: list[tuple[str, str]] = []
        """Each request so far: what was to be done, and with what kind of thing."""
        self._image = image
        self._lock = threading.Lock()

    def evict(self) -> None:
        """End the process of every pod, which its node has no room for any more; the API goes on to know of it."""
        for pod in list(self.pods.values()):
            pod.end()

    def answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        """What the API says."""
        url = urlsplit(target)
        with self._lock:
            kind = re.search(r"/(pods|rolebindings|namespaces)(?:/[^/]+)?$", url.path)
            self.asked.append((method, kind[1] if kind else url.path))
            if found := re.fullmatch(r"/api/v1/namespaces/[^/]+/pods(?:/(.+))?", url.path):
                return self._about_pods(method, found[1], parse_qs(url.query), body)
            if found := re.fullmatch(r"/api/v1/namespaces(?:/(.+))?", url.path):
                return self._about_namespaces(method, found[1], body)
        return (201, body) if method == "POST" else _NOT_FOUND  # A role binding, which is not looked at.

    def _about_pods(self, method: str, name: str | None, query: Mapping[str, list[str]], body: Any) -> tuple[int, Any]:
        match method:
            case "GET":
                wanted = dict(pair.split("=") for pair in query["labelSelector"][0].split(","))
                items = [pod.state for pod in self.pods.values() if wanted.items() <= labels(pod).items()]
                return 200, {"items": items}
            case "POST" if body["metadata"]["name"] not in self.pods:
                pod = Pod(body, self._image)
                self.pods[pod.name] = pod
                return 201, pod.state
            case "DELETE" if name in self.pods:
                pod = self.pods.pop(name)
                pod.end()
                return 200, pod.state
        return _EXISTS if method == "POST" else _NOT_FOUND

    def _about_namespaces(self, method: str, name: str | None, body: Any) -> tuple[int, Any]:
        if method == "DELETE" and name in self.namespaces:
            self.namespaces.remove(name)
            return 200, {"status": "Success"}
        if method != "POST":
            return _NOT_FOUND
        if body["metadata"]["name"] in self.namespaces:
            return _EXISTS
        self.namespaces.add(body["metadata"]["name"])
        return 201, body


def labels(pod: Pod) -> dict[str, str]:
    """By which it is found."""
    found: dict[str, str] = pod.described["metadata"]["labels"]
    return found


@dataclass(frozen=True)
class Kubernetes:
    """A gateway, and what it asks its cluster for."""

    server: Server
    cluster: Cluster


@contextmanager
def kubernetes(interpreter: str, folder: Path, *, env: Mapping[str, str] | None = None) -> Iterator[Kubernetes]:
    """A gateway whose kernels are pods of the stand-in, with further settings in `env`."""
    scripts = launchers(interpreter)
    launcher = scripts / "kubernetes" / "scripts" / "launch_kubernetes.py"
    install(folder, KERNELSPEC, described(interpreter, launcher))
    (folder / "sitecustomize.py").write_text(_CREDENTIALS, encoding="utf-8")
    cluster = Cluster(
        Image(
            ["bash", str(scripts / "bootstrap" / "bootstrap-kernel.sh")],
            {
                "PATH": os.pathsep.join([str(Path(interpreter).parent), "/usr/bin", "/bin"]),
                "PYTHONPATH": "",
                "HOME": str(folder),
                "KERNEL_LAUNCHERS_DIR": str(scripts),
            },
            folder,
        )
    )
    with api(cluster) as port:
        settings = {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(port),
            "PYTHONPATH": str(folder),
            "EG_INHERITED_ENVS": _INHERITED,
            "EG_RESPONSE_IP": "127.0.0.1",
            "EG_RESPONSE_PORT": str(free_port()),
            "EG_MIRROR_WORKING_DIRS": "True",
            "EG_DEFAULT_KERNEL_NAME": KERNELSPEC,
            **(env or {}),
        }
        try:
            with serving(ENTERPRISE_GATEWAY, interpreter, folder, env=settings) as server:
                yield Kubernetes(server, cluster)
        finally:
            cluster.evict()


def described(interpreter: str, launcher: Path) -> dict[str, Any]:
    """The kernel, as the kernelspec that comes with the gateway describes it."""
    options = ("kernel-id", "port-range", "response-address", "public-key")
    words = [word for option in options for word in (f"--{option}", "{" + option.replace("-", "_") + "}")]
    return {
        "display_name": "Python in a pod",
        "language": "python",
        "metadata": {"process_proxy": {"class_name": _PROXY, "config": {"image_name": IMAGE}}},
        "argv": [interpreter, str(launcher), *words],
    }


@contextmanager
def api(cluster: Cluster) -> Iterator[int]:
    """Answer requests in threads of their own; the port."""

    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, answer = cluster.answer(self.command, self.path, body)
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        do_GET = do_POST = do_DELETE = reply  # noqa: N815 - the names that the library looks for

        def log_message(self, *_: object) -> None:
            """The gateway's log has it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, name="kubernetes")
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
