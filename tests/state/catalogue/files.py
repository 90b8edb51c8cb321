"""Files, temporary things, archives and databases of the standard library."""

from tests.state.catalogue.entry import Entry, Library

SETUP = """
import dbm.dumb, gzip, io, mmap, os, pathlib, shelve, sqlite3, tarfile, tempfile, zipfile
from multiprocessing import shared_memory

place = tempfile.TemporaryDirectory()
folder = pathlib.Path(place.name)
_ = (folder / "lines.txt").write_text("one\\ntwo\\nthree\\nfour\\nfive\\n", encoding="utf-8")
_ = (folder / "bytes.bin").write_bytes(bytes(range(200)))
with zipfile.ZipFile(folder / "a.zip", "w") as archive:
    archive.writestr("inside.txt", "packed")
with tarfile.open(folder / "a.tar", "w") as archive:
    archive.add(folder / "lines.txt", "inside.txt")
with gzip.open(folder / "a.gz", "wt", encoding="utf-8") as stream:
    _ = stream.write("one\\ntwo\\nthree\\nfour\\n")

def database(where):
    connection = sqlite3.connect(where)
    connection.execute("create table t (n integer)")
    connection.executemany("insert into t values (?)", [(number,) for number in range(100)])
    connection.commit()
    return connection

def written(file):
    file.write("more\\n")
    file.flush()
    return file.tell()
"""

FILES = Library(
    "standard library: files and databases",
    setup=SETUP,
    note=(
        "Files and shared memory are as they are now, not as they were: what was written to them after the checkpoint "
        "is not taken back."
    ),
    entries=(
        Entry(
            "text file (being read)", "x = open(folder / 'lines.txt', encoding='utf-8'); x.readline()", "x.readline()"
        ),
        Entry("text file (being written)", "x = open(folder / 'new.txt', 'w', encoding='utf-8')", "written(x)"),
        Entry(
            "text file with unwritten text",
            "x = open(folder / 'held.txt', 'w', encoding='utf-8'); x.write('held')",
            "(x.write('!'), x.tell())",
        ),
        Entry("binary file (being read)", "x = open(folder / 'bytes.bin', 'rb'); x.seek(50)", "x.read(3)"),
        Entry(
            "descriptor of a file",
            "x = os.open(folder / 'bytes.bin', os.O_RDONLY)",
            "os.pread(x, 4, 10)",
            untold="it is a number",
        ),
        Entry("io.StringIO", "x = io.StringIO('abcdefgh'); x.read(1)", "x.read(2)"),
        Entry("io.BytesIO", "x = io.BytesIO(b'abc'); x.seek(0, 2)", "x.write(b'd') and x.getvalue()"),
        Entry("tempfile.TemporaryDirectory", "x = tempfile.TemporaryDirectory()", "os.path.isdir(x.name)"),
        Entry("tempfile.NamedTemporaryFile", "x = tempfile.NamedTemporaryFile('w+')", "written(x)"),
        Entry("tempfile.SpooledTemporaryFile", "x = tempfile.SpooledTemporaryFile(100, 'w+')", "written(x)"),
        Entry(
            "mmap.mmap of a file",
            "with open(folder / 'bytes.bin', 'rb') as file:\n"
            "    x = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)",
            "x[10:13]",
        ),
        Entry("mmap.mmap (anonymous)", "x = mmap.mmap(-1, 4096); x[:3] = b'abc'", "x[:4]"),
        Entry(
            "multiprocessing.shared_memory",
            "x = shared_memory.SharedMemory(create=True, size=64); x.unlink(); x.buf[:3] = b'abc'",
            "bytes(x.buf[:4])",
        ),
        Entry("zipfile.ZipFile", "x = zipfile.ZipFile(folder / 'a.zip')", "x.read('inside.txt')"),
        Entry("tarfile.TarFile", "x = tarfile.open(folder / 'a.tar')", "x.extractfile('inside.txt').readline()"),
        Entry("gzip.GzipFile (being read)", "x = gzip.open(folder / 'a.gz', 'rt', encoding='utf-8')", "x.readline()"),
        Entry("os.scandir (begun)", "x = os.scandir(folder); next(x)", "os.path.dirname(next(x).path) == place.name"),
        Entry(
            "sqlite3.Connection (in memory)", "x = database(':memory:')", "x.execute('select sum(n) from t').fetchone()"
        ),
        Entry(
            "sqlite3.Connection (of a file)",
            "x = database(folder / 'a.sqlite')",
            "x.execute('select sum(n) from t').fetchone()",
        ),
        Entry(
            "sqlite3.Connection in a transaction",
            "x = database(':memory:'); x.execute('insert into t values (1000)')",
            "(x.in_transaction, x.execute('select sum(n) from t').fetchone())",
        ),
        Entry("sqlite3.Cursor (begun)", "x = database(':memory:').execute('select n from t')", "x.fetchmany(3)"),
        Entry("dbm", "x = dbm.dumb.open(str(folder / 'd'), 'n'); x['a'] = 'b'", "x['a']"),
        Entry("shelve.Shelf", "x = shelve.Shelf({}); x['a'] = [1]", "x['a']"),
        Entry("os.environ", "os.environ['MADE'] = 'here'; x = os.environ", "x['MADE']"),
        Entry("the current folder", "os.chdir(folder); x = pathlib.Path.cwd()", "x.samefile(os.getcwd())"),
    ),
)
