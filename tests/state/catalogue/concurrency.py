"""Threads, processes, sockets and tasks: what the system or another thread has a part in."""

from tests.state.catalogue.entry import Entry, Library

GONE = "its thread is gone"
DEAD_CHANNEL = "its other end is outside the process"
OWN_CHILD = "a child belongs to the process that started it"
OLD_LOOP = "its event loop is gone"

THREADS = Library(
    "standard library: threads",
    setup="""
import concurrent.futures, queue, threading, time

waiting = threading.Event()

def thread_of(name):
    thread = threading.Thread(target=waiting.wait, name=name, daemon=True)
    thread.start()
    return thread

def held_by_another():
    lock, holding = threading.Lock(), threading.Event()
    def hold():
        with lock:
            holding.set()
            waiting.wait()
    threading.Thread(target=hold, name="holder", daemon=True).start()
    holding.wait()
    return lock

def filled(kind):
    made = kind()
    for number in range(9):
        made.put(number)
    return made

def tried(lock):
    return lock.acquire(timeout=0.2) and (lock.release() or True)
""",
    entries=(
        Entry("threading.Lock", "x = threading.Lock()", "tried(x)"),
        Entry("threading.Lock, held by a cell", "x = threading.Lock(); x.acquire()", "(x.locked(), tried(x))"),
        Entry("threading.RLock, held by a cell", "x = threading.RLock(); x.acquire()", "tried(x)"),
        Entry(
            "threading.Condition",
            "x = threading.Condition()",
            "x.acquire() and (x.wait_for(lambda: 5), x.release())[0]",
        ),
        Entry("threading.Semaphore", "x = threading.Semaphore(30)", "x.acquire() and x._value"),
        Entry("threading.Event", "x = threading.Event(); x.set()", "x.wait(0)"),
        Entry("threading.Barrier", "x = threading.Barrier(1)", "x.wait(0.2)"),
        Entry("threading.local", "x = threading.local(); x.value = 5", "x.value"),
        Entry("queue.Queue", "x = filled(queue.Queue)", "x.get(timeout=0.2)"),
        Entry("queue.SimpleQueue", "x = filled(queue.SimpleQueue)", "x.get(timeout=0.2)"),
        Entry("queue.PriorityQueue", "x = filled(queue.PriorityQueue)", "x.get(timeout=0.2)"),
        Entry(
            "threading.Thread, ended",
            "x = threading.Thread(target=len, args=('',)); x.start(); x.join()",
            "x.is_alive()",
        ),
        Entry("concurrent.futures.Future, done", "x = concurrent.futures.Future(); x.set_result(6)", "x.result(0)"),
        Entry("ThreadPoolExecutor, not used", "x = concurrent.futures.ThreadPoolExecutor(2)", "x._max_workers"),
    ),
)

RUNNING_THREADS = Library(
    "standard library: threads that run",
    setup=THREADS.setup,
    back="not",
    entries=(
        Entry("threading.Thread, running", "x = thread_of('worker')", "x.is_alive()", because=GONE),
        Entry(
            "threading.Timer", "x = threading.Timer(600, len); x.daemon = True; x.start()", "x.is_alive()", because=GONE
        ),
        Entry(
            "threading.Lock, held by a thread",
            "x = held_by_another()",
            "tried(x) or waiting.is_set() or 'held'",
            "exact",
        ),
        Entry(
            "ThreadPoolExecutor, used",
            "x = concurrent.futures.ThreadPoolExecutor(2); x.submit(len, 'ab').result()",
            "x.submit(len, 'abc').result(1)",
            because=GONE,
        ),
        Entry(
            "concurrent.futures.Future, pending",
            "pool = concurrent.futures.ThreadPoolExecutor(1); x = [pool.submit(time.sleep, 0.3) for _ in range(9)]",
            "x.pop(0).result(2)",
            because=GONE,
        ),
    ),
)

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
        Entry("subprocess.Popen, ended", "x = subprocess.Popen(['true']); x.wait()", "x.wait(1)", "exact"),
        Entry("subprocess.Popen, running", "x = subprocess.Popen(['sleep', '600'])", "x.poll()", because=OWN_CHILD),
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
            "ProcessPoolExecutor, used",
            "x = concurrent.futures.ProcessPoolExecutor(1, mp_context=here); x.submit(len, 'ab').result()",
            "x.submit(len, 'abc').result(2)",
            because=OWN_CHILD,
        ),
        Entry("os.pipe", "x = os.pipe()", "piped(x)", because=DEAD_CHANNEL),
        Entry("socket.socketpair", "x = socket.socketpair()", "echoed(x)", because=DEAD_CHANNEL),
        Entry("socket.socket, listening", "x = listening()", "reached(x)", because=DEAD_CHANNEL),
        Entry(
            "socket.socket, connected",
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
        Entry("selectors.EpollSelector", "x = watched()", "len(x.select(0.5))", because=DEAD_CHANNEL),
        Entry(
            "signal handler",
            "signal.signal(signal.SIGUSR1, lambda *_: None); x = signal.getsignal(signal.SIGUSR1)",
            "x is signal.getsignal(signal.SIGUSR1)",
            "exact",
        ),
    ),
)

TASKS = Library(
    "standard library: asyncio",
    setup="""
import asyncio

async def value_of(number):
    return number

async def filled_queue():
    queue = asyncio.Queue()
    for number in range(9):
        queue.put_nowait(number)
    return queue

async def made_future():
    return asyncio.get_running_loop().create_future()

async def soon(awaitable):
    try:
        return await asyncio.wait_for(awaitable, 1)
    except TimeoutError:
        return "nothing came"

async def ticking(ticks):
    while True:
        ticks.append(len(ticks))
        await asyncio.sleep(0.01)

async def grown(ticks):
    before = len(ticks)
    await asyncio.sleep(0.2)
    return len(ticks) > before
""",
    entries=(
        Entry("asyncio.Queue", "x = await filled_queue()", "await soon(x.get())"),
        Entry(
            "asyncio.Lock",
            "x = asyncio.Lock(); await x.acquire(); x.release()",
            "(await soon(x.acquire())) and (x.release() or x.locked())",
        ),
        Entry("asyncio.Event", "x = asyncio.Event(); x.set()", "await soon(x.wait())"),
        Entry("asyncio.Semaphore", "x = asyncio.Semaphore(20)", "(await soon(x.acquire()), x._value)"),
        Entry("asyncio.Task, done", "x = asyncio.ensure_future(value_of(5)); await x", "x.result()"),
        Entry("asyncio.Future, done", "x = await made_future(); x.set_result(3)", "x.result()"),
        Entry("coroutine, not awaited", "x = [value_of(number) for number in range(4)]", "await x.pop()"),
        Entry(
            "asyncio.Task, pending",
            "ticks = []; x = (asyncio.ensure_future(ticking(ticks)), ticks)",
            "await grown(x[1])",
            "not",
            OLD_LOOP,
        ),
        Entry(
            "asyncio.Server",
            "x = await asyncio.start_server(lambda reader, writer: writer.close(), '127.0.0.1', 0)",
            "await soon((await asyncio.open_connection(*x.sockets[0].getsockname()))[0].read())",
            "not",
            OLD_LOOP,
        ),
        Entry(
            "asyncio.StreamWriter",
            "channel = asyncio.StreamReader(); server = await asyncio.start_server(lambda r, w: w.write(b'hello'),"
            " '127.0.0.1', 0); x = await asyncio.open_connection(*server.sockets[0].getsockname())",
            "await soon(x[0].read(1))",
            "not",
            OLD_LOOP,
        ),
        Entry(
            "asyncio.subprocess.Process",
            "x = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)",
            "(x.stdin.write(b'ab\\n'), await soon(x.stdout.readline()))",
            "not",
            OLD_LOOP,
        ),
    ),
)
