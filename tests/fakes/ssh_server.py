"""An SSH server for a test, on the library that Enterprise Gateway brings along: it runs commands, and no more.

    python ssh_server.py HOME ADDRESS

It listens on a free port of every interface, writes the key of one user and its own for a client whose home is HOME
and who knows it as ADDRESS, prints the port, and ends when its standard input does. There is no password. It runs in
the interpreter of the gateway, so nothing of ours can be imported here.
"""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import paramiko  # type: ignore[import-untyped]  # It is in the environment of the gateway, not in ours.


class Commands(paramiko.ServerInterface):  # type: ignore[misc]  # The library has no types here.
    """What one client may do: show its key, and run a command."""

    def __init__(self, known: paramiko.PKey, connection: str) -> None:
        self._known = known
        self._connection = connection

    def get_allowed_auths(self, username: str) -> str:
        """As the library asks."""
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """As the library asks."""
        fits = key.asbytes() == self._known.asbytes()
        return int(paramiko.AUTH_SUCCESSFUL if fits else paramiko.AUTH_FAILED)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """As the library asks."""
        fits = kind == "session"
        return int(paramiko.OPEN_SUCCEEDED if fits else paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED)

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        """As the library asks."""
        threading.Thread(target=self._run, args=(channel, command), daemon=True).start()
        return True

    def _run(self, channel: paramiko.Channel, command: bytes) -> None:
        """Run it in a session of its own, as every SSH server does, and give back what it writes."""
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SSH_CONNECTION": self._connection}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            start_new_session=True,
            check=False,
        )
        channel.sendall(done.stdout)
        channel.sendall_stderr(done.stderr)
        channel.send_exit_status(done.returncode)
        channel.close()


def serve(listener: socket.socket, host_key: paramiko.PKey, known: paramiko.PKey) -> None:
    """Take connections for ever."""
    while True:
        client, (address, port, *_) = listener.accept()
        here = client.getsockname()
        transport = paramiko.Transport(client)
        transport.add_server_key(host_key)
        # The event keeps the call from waiting for the handshake: another client may come meanwhile.
        transport.start_server(threading.Event(), Commands(known, f"{address} {port} {here[0]} {here[1]}"))


def introduce(home: Path, name: str, host_key: paramiko.PKey) -> paramiko.PKey:
    """Let the user with this home in, and let it know the server; the key that it will show."""
    folder = home / ".ssh"
    folder.mkdir(mode=0o700, exist_ok=True)
    key = paramiko.ECDSAKey.generate()
    key.write_private_key_file(str(folder / "id_ecdsa"))
    hosts = paramiko.HostKeys()
    hosts.add(name, host_key.get_name(), host_key)
    hosts.save(str(folder / "known_hosts"))
    return key


def main() -> None:
    """See the module."""
    home, address = Path(sys.argv[1]), sys.argv[2]
    host_key = paramiko.ECDSAKey.generate()
    listener = socket.create_server(("0.0.0.0", 0))
    port = listener.getsockname()[1]
    known = introduce(home, f"[{address}]:{port}", host_key)
    threading.Thread(target=serve, args=(listener, host_key, known), daemon=True).start()
    print(port, flush=True)
    sys.stdin.read()
    os._exit(0)


main()
