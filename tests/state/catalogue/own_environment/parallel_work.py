"""Schedulers, pools and writers that work in threads, processes or loops of their own."""

from tests.state.catalogue.entry import GONE, OLD_LOOP, SETTING, Entry, Library

CLIENTLESS = "it can be written down, though it is no good without its client"

DASK = Library(
    "dask",
    environment="state",
    modules=("dask", "numpy"),
    setup="import dask, dask.array as da, numpy as np, threading\n_ = dask.delayed(abs)(-3).compute()",
    entries=(
        Entry("delayed", "x = dask.delayed(abs)(-3) + 1", "x.compute()"),
        Entry("array", "x = da.ones((200, 200), chunks=50)", "float((x @ x).sum().compute())"),
        Entry("array (persisted)", "x = da.arange(1000, chunks=100).persist()", "int(x.sum().compute())"),
        Entry(
            "bag", "import dask.bag; x = dask.bag.from_sequence(range(9), 3)", "x.sum().compute(scheduler='threads')"
        ),
        Entry("graph", "x = {'a': 1, 'b': (abs, 'a')}", "dask.get(x, 'b')"),
        Entry("config", "dask.config.set({'made.here': 5}); x = dask.config", "x.get('made.here')", untold=SETTING),
    ),
)

DISTRIBUTED = Library(
    "distributed",
    environment="catalogue",
    modules=("distributed",),
    back="not",
    setup="""
import distributed

def cluster():
    return distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, host="127.0.0.1", protocol="tcp"
    )

made = cluster()
client = distributed.Client(made, timeout="5s")
""",
    entries=(
        Entry("Client", "x = client", "x.submit(abs, -4).result(timeout=3)", because=OLD_LOOP),
        Entry(
            "LocalCluster",
            "x = made",
            "len(x.workers) and distributed.Client(x, timeout='2s').ncores() != {}",
            because=OLD_LOOP,
        ),
        Entry("Future", "x = client.submit(abs, -5)", "x.result(timeout=3)", because=OLD_LOOP, untold=CLIENTLESS),
        Entry(
            "Queue",
            "x = distributed.Queue('q', client=client); x.put(1)",
            "x.qsize()",
            because=OLD_LOOP,
            untold=CLIENTLESS,
        ),
    ),
)

JOBLIB = Library(
    "joblib",
    environment="state",
    modules=("joblib",),
    setup="""
import joblib, tempfile

place = tempfile.TemporaryDirectory()

def doubled(value):
    return value * 2
""",
    entries=(
        Entry(
            "Parallel (threads)",
            "x = joblib.Parallel(n_jobs=2, prefer='threads')",
            "x(joblib.delayed(doubled)(number) for number in range(4))",
        ),
        Entry(
            "Parallel (processes, loky)",
            "x = joblib.Parallel(n_jobs=2, timeout=8)",
            "x(joblib.delayed(abs)(-number) for number in range(4))",
        ),
        Entry("Memory", "x = joblib.Memory(place.name, verbose=0)", "x.cache(len)('abcd')"),
        Entry("a function that is cached", "x = joblib.Memory(place.name, verbose=0).cache(doubled)", "x(21)"),
        Entry("hash", "x = joblib.hash([1, 2, 3])", "x == joblib.hash([1, 2, 3])"),
    ),
)

LOGURU = Library(
    "loguru",
    environment="state",
    modules=("loguru",),
    setup="""
import loguru

said = []
loguru.logger.remove()

def written(logger):
    logger.info("a line")
    return len(said)
""",
    entries=(
        Entry("logger", "x = loguru.logger.bind(a=1); number = x.add(said.append)", "written(x)"),
        Entry(
            "logger with a patch",
            "x = loguru.logger.patch(lambda record: record['extra'].update(b=2))",
            "written(x) > 0",
        ),
    ),
)

LOGURU_QUEUE = Library(
    "loguru with a queue",
    environment="state",
    modules=("loguru",),
    setup="""
import threading
import loguru

queued = []
loguru.logger.remove()

def delivered(logger):
    logger.info("another")
    waiting = threading.Thread(target=logger.complete, daemon=True)
    waiting.start()
    waiting.join(2)
    return waiting.is_alive(), len(queued)
""",
    entries=(
        Entry(
            "logger (enqueue)",
            "loguru.logger.add(queued.append, enqueue=True); x = loguru.logger",
            "delivered(x)",
            "not",
            GONE,
        ),
        Entry("anything beside it", "x = [1, 2]", "sum(x)"),
    ),
)

APSCHEDULER = Library(
    "apscheduler",
    environment="state",
    modules=("apscheduler",),
    setup="""
import datetime, threading, time
from apscheduler.executors.pool import ThreadPoolExecutor as Pool
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

zone = datetime.timezone.utc
start = datetime.datetime(2030, 1, 1, tzinfo=zone)
ran = threading.Event()

def run_soon(scheduler):
    ran.clear()
    scheduler.add_job(ran.set)
    return ran.wait(2)

def started():
    scheduler = BackgroundScheduler(timezone=zone)
    scheduler.start()
    return scheduler
""",
    entries=(
        Entry("CronTrigger", "x = CronTrigger(hour=5, timezone=zone)", "str(x.get_next_fire_time(None, start))"),
        Entry(
            "IntervalTrigger",
            "x = IntervalTrigger(hours=2, start_date=start, timezone=zone)",
            "str(x.get_next_fire_time(None, start))",
        ),
        Entry(
            "BackgroundScheduler (not started)",
            "x = BackgroundScheduler(timezone=zone); x.add_job(print, id='a')",
            "[job.id for job in x.get_jobs()]",
        ),
        Entry("BackgroundScheduler (running)", "x = started()", "run_soon(x)", "not", GONE),
    ),
)

TENSORBOARDX = Library(
    "tensorboardX",
    environment="state",
    modules=("tensorboardX",),
    setup="""
import os, tempfile, threading, time
from tensorboardX import SummaryWriter

place = tempfile.TemporaryDirectory()

def flushed(writer, seconds):
    flushing = threading.Thread(target=writer.flush, daemon=True)
    flushing.start()
    flushing.join(seconds)

def written(writer):
    size = lambda: sum(os.path.getsize(os.path.join(writer.logdir, name)) for name in os.listdir(writer.logdir))
    flushed(writer, 2)
    before = size()
    writer.add_scalar("loss", 1.0, 1)
    until = time.monotonic() + 2
    while size() == before and time.monotonic() < until:
        flushed(writer, until - time.monotonic())
    return size() > before
""",
    entries=(
        Entry("SummaryWriter", "x = SummaryWriter(place.name + '/a')", "written(x)", "not", GONE),
        Entry(
            "SummaryWriter (closed)", "x = SummaryWriter(place.name + '/b'); x.close()", "os.path.basename(x.logdir)"
        ),
    ),
)

TENSORBOARD = Library(
    "tensorboard",
    environment="catalogue",
    modules=("tensorboard",),
    setup="""
import os, tempfile, threading
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

place = tempfile.TemporaryDirectory()

def event():
    value = summary_pb2.Summary.Value(tag="loss", simple_value=1.0)
    return event_pb2.Event(step=1, summary=summary_pb2.Summary(value=[value]))

def written(writer):
    folder = writer.get_logdir()
    size = lambda: sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    before = size()
    def write():
        writer.add_event(event())
        writer.flush()
    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    writing.join(2)
    return size() > before

_ = event(), EventFileWriter(os.path.join(place.name, "first")).close()
""",
    entries=(
        Entry("EventFileWriter", "x = EventFileWriter(os.path.join(place.name, 'second'))", "written(x)", "not", GONE),
        Entry("EventAccumulator", "x = EventAccumulator(place.name); x.Reload()", "sorted(x.Tags())[:2]"),
        Entry("Event", "x = event()", "x.summary.value[0].tag"),
    ),
)

WATCHDOG = Library(
    "watchdog",
    environment="catalogue",
    modules=("watchdog",),
    setup="""
import os, tempfile, threading
from watchdog.events import FileSystemEventHandler, PatternMatchingEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver
from watchdog.utils.dirsnapshot import DirectorySnapshot

place = tempfile.TemporaryDirectory()
seen = threading.Event()

class Seeing(FileSystemEventHandler):
    def on_any_event(self, event):
        seen.set()

def watching(kind):
    observer = kind()
    observer.schedule(Seeing(), place.name)
    observer.start()
    return observer

def notices(observer):
    seen.clear()
    with open(os.path.join(place.name, "file"), "a", encoding="utf-8") as file:
        file.write("a")
    return seen.wait(4)
""",
    entries=(
        Entry("Observer", "x = watching(Observer)", "notices(x)", "not", GONE),
        Entry(
            "PollingObserver",
            "x = PollingObserver(timeout=0.2); _ = x.schedule(Seeing(), place.name)",
            "len(x.emitters)",
        ),
        Entry("PatternMatchingEventHandler", "x = PatternMatchingEventHandler(patterns=['*.py'])", "x.patterns"),
        Entry("DirectorySnapshot", "x = DirectorySnapshot(place.name)", "len(x.paths) > 0"),
    ),
)

NUMBA_TBB = Library(
    "numba with TBB",
    environment="catalogue",
    modules=("numba",),
    setup="""
import ctypes, os, sys
_ = ctypes.CDLL(os.path.join(sys.prefix, "lib", "libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)
os.environ["NUMBA_THREADING_LAYER"] = "tbb"
import numba, numpy as np

@numba.njit(parallel=True)
def parallel_sum(values):
    total = 0.0
    for index in numba.prange(values.size):
        total += values[index]
    return total

numbers = np.arange(100_000.0)
_ = parallel_sum(numbers)
assert numba.threading_layer() == "tbb"
""",
    entries=(
        Entry(
            "parallel function (TBB)",
            "x = parallel_sum",
            "round(x(numbers), 3)",
            untold="TBB has to be loaded before it, as it was here",
        ),
        Entry("generated function", "x = numba.njit(lambda a: a + 1)", "x(1)"),
    ),
)

PARALLEL_WORK = (
    DASK,
    DISTRIBUTED,
    JOBLIB,
    LOGURU,
    LOGURU_QUEUE,
    APSCHEDULER,
    TENSORBOARDX,
    TENSORBOARD,
    WATCHDOG,
    NUMBA_TBB,
)
