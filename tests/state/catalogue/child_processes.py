"""Child processes, pipes and sockets: what the system and others have a part in."""

from tests.state.catalogue.entry import DEAD_CHANNEL, OWN_CHILD, Entry, Library

PROCESSES = Library(
    "standard library: processes, pipes and sockets",
    setup="""
import concurrent.futures, http.server, multiprocessing, os, select, selectors, signal, socket, subprocess, sys
import tempfile, threading

here = multiprocessing.get_context("fork")
cat = [sys.executable, "-c", "import sys\\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line.upper());"
       " sys.stdout.buffer.flush()"]

def asked(process):
    process.stdin.write(b"a line\\n")
    process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], 5)
    return process.stdout.readline() if ready else "no answer"

def echoed(pair):
    pair[0].sendall(b"ping")
    pair[1].settimeout(2)
    return pair[1].recv(4)

def reached(server):
    with socket.create_connection(server.getsockname(), timeout=2) as client:
        accepted, _ = server.accept()
        accepted.close()
        return client.recv(1)

def piped(ends):
    os.write(ends[1], b"ab")
    return os.read(ends[0], 2)

def listening():
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(2)
    return server

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()
    def log_message(self, *args):
        pass

def served(server):
    one = threading.Thread(target=server.handle_request, daemon=True)
    one.start()
    with socket.create_connection(server.server_address, timeout=2) as client:
        client.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        return client.recv(12)

def watched():
    selector = selectors.DefaultSelector()
    left, right = socket.socketpair()
    selector.register(left, selectors.EVENT_READ)
    right.send(b"x")
    selector.kept = (left, right)
    return selector
""",
    back="not",
    entries=(
        Entry(
            "subprocess.CompletedProcess", "x = subprocess.run(['echo', 'a'], capture_output=True)", "x.stdout", "exact"
        ),
        Entry("subprocess.Popen (ended)", "x = subprocess.Popen(['true']); x.wait()", "x.wait(1)", "exact"),
        Entry("subprocess.Popen (running)", "x = subprocess.Popen(['sleep', '600'])", "x.poll()", because=OWN_CHILD),
        Entry(
            "subprocess.Popen with pipes",
            "x = subprocess.Popen(cat, stdin=subprocess.PIPE, stdout=subprocess.PIPE)",
            "asked(x)",
            because=OWN_CHILD,
        ),
        Entry(
            "multiprocessing.Process",
            "x = here.Process(target=signal.pause, daemon=True); x.start()",
            "x.is_alive()",
            because=OWN_CHILD,
        ),
        Entry("multiprocessing.Pool", "x = here.Pool(1)", "x.apply_async(len, ('ab',)).get(2)", because=OWN_CHILD),
        Entry(
            "multiprocessing.Queue",
            "x = here.Queue(); x.put(1); x.put(2); x.put(3)",
            "x.get(timeout=2)",
            because=DEAD_CHANNEL,
        ),
        Entry("multiprocessing.Value", "x = here.Value('i', 7)", "x.value", "exact"),
        Entry("multiprocessing.Lock", "x = here.Lock()", "x.acquire(timeout=1) and (x.release() or True)", "exact"),
        Entry(
            "multiprocessing.Pipe",
            "x = here.Pipe()",
            "(x[0].send(4), x[1].poll(1) and x[1].recv())",
            because=DEAD_CHANNEL,
        ),
        Entry(
            "ProcessPoolExecutor (used)",
            "x = concurrent.futures.ProcessPoolExecutor(1, mp_context=here); x.submit(len, 'ab').result()",
            "x.submit(len, 'abc').result(2)",
            because=OWN_CHILD,
        ),
        Entry("os.pipe", "x = os.pipe()", "piped(x)", because=DEAD_CHANNEL, untold="it is two numbers"),
        Entry("socket.socketpair", "x = socket.socketpair()", "echoed(x)", because=DEAD_CHANNEL),
        Entry("socket.socket (listening)", "x = listening()", "reached(x)", because=DEAD_CHANNEL),
        Entry(
            "socket.socket (connected)",
            "server = listening(); x = (socket.create_connection(server.getsockname()), server.accept()[0])",
            "echoed(x)",
            because=DEAD_CHANNEL,
        ),
        Entry(
            "http.server.HTTPServer",
            "x = http.server.HTTPServer(('127.0.0.1', 0), Answer)",
            "served(x)",
            because=DEAD_CHANNEL,
        ),
        Entry(
            "selectors.EpollSelector",
            "x = watched()",
            "[key.fileobj.recv(1, socket.MSG_PEEK) for key, _ in x.select(0.5)]",
            because=DEAD_CHANNEL,
        ),
        Entry(
            "signal handler",
            "signal.signal(signal.SIGUSR1, lambda *_: None); x = signal.getsignal(signal.SIGUSR1)",
            "x is signal.getsignal(signal.SIGUSR1)",
            "exact",
        ),
    ),
)
