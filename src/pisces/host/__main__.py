"""`python -m pisces.host READY`: become the background host, and tell the client at the other end of READY when it is.

READY is a descriptor. One line is written to it: empty when the host listens, a `Refusal` when it cannot. Nobody but
the client that starts a host runs this.
"""

import os
import signal
import sys


def main() -> None:
    """Leave the terminal, the session and the parent behind, then serve."""
    from pisces.settings.own_process import protect_process

    protect_process()
    ready = int(sys.argv[1])
    if os.fork():
        os._exit(0)
    # The client has started us in a session of our own; as its leader's child we can never get a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.set_inheritable(ready, False)

    from pisces.host.life import live

    live(ready)


if __name__ == "__main__":
    main()
