"""Messages and the web: clients, servers and brokers, with what they keep in threads and loops."""

from tests.state.catalogue.entry import GONE, NO_VALUE, OLD_LOOP, SETTING, Entry, Library

_PAGES = """
import http.server, threading

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "4")
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(b"page")
    do_HEAD = do_GET
    def log_message(self, *args):
        pass

class Pages:
    # A server of its own for each use, always at the same port: the client is what has to come back.
    port = 0
    def __enter__(self):
        http.server.HTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", Pages.port), Page)
        self.server.daemon_threads = True
        Pages.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{Pages.port}"
    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()
"""

GRPC = Library(
    "grpcio",
    environment="state",
    modules=("grpc",),
    back="by_value",
    setup="""
import concurrent.futures
import grpc

class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: request + b"!")

def server():
    made = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    made.add_generic_rpc_handlers((Echo(),))
    made.port = made.add_insecure_port("127.0.0.1:0")
    made.start()
    return made

def asked(channel):
    return channel.unary_unary("/echo/say")(b"hello", timeout=4)

serving = server()
address = f"127.0.0.1:{serving.port}"
""",
    entries=(
        Entry("Channel", "x = grpc.insecure_channel(address)", "asked(x)", "not", NO_VALUE),
        Entry("Server", "x = serving", "asked(grpc.insecure_channel(f'127.0.0.1:{x.port}'))", "not", NO_VALUE),
        Entry(
            "multicallable",
            "x = grpc.insecure_channel(address).unary_unary('/echo/say')",
            "x(b'a', timeout=4)",
            "not",
            NO_VALUE,
        ),
        Entry("StatusCode", "x = grpc.StatusCode.NOT_FOUND", "x.value"),
        Entry("anything beside it", "x = {'a': [1, 2]}", "sum(x['a'])"),
        Entry("a function of the session beside it", "x = lambda n: n + 1", "x(1)"),
    ),
)

PYZMQ = Library(
    "pyzmq",
    environment="state",
    modules=("zmq",),
    back="by_value",
    setup="""
import zmq

def pair():
    context = zmq.Context.instance()
    left, right = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    for end in (left, right):
        end.setsockopt(zmq.LINGER, 0)
        end.setsockopt(zmq.RCVTIMEO, 1500)
        end.setsockopt(zmq.SNDTIMEO, 1500)
    port = left.bind_to_random_port("tcp://127.0.0.1")
    right.connect(f"tcp://127.0.0.1:{port}")
    return left, right

def echoed(ends):
    ends[0].send(b"ping")
    return ends[1].recv()
""",
    entries=(
        Entry("Socket", "x = pair()", "echoed(x)", "not", NO_VALUE),
        Entry("Context", "x = zmq.Context.instance()", "x.get(zmq.MAX_SOCKETS) > 0", "not", NO_VALUE),
        Entry(
            "Poller",
            "ends = pair(); x = zmq.Poller(); x.register(ends[1], zmq.POLLIN)",
            "(ends[0].send(b'a'), len(x.poll(1500)))",
            "not",
            NO_VALUE,
        ),
        Entry("Frame", "x = bytes(zmq.Frame(b'abc'))", "len(x)"),
        Entry("SocketType", "x = zmq.SocketType.PUB", "x.name"),
    ),
)

AIOHTTP = Library(
    "aiohttp",
    environment="state",
    modules=("aiohttp",),
    setup="""
import asyncio
import aiohttp
from aiohttp import web

async def hello(request):
    return web.Response(text="page")

async def started(port=0):
    app = web.Application()
    app.router.add_get("/", hello)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, reuse_address=True)
    await site.start()
    return runner

async def asked(session):
    runner = await started()
    try:
        url = "http://127.0.0.1:%d/" % runner.addresses[0][1]
        async with asyncio.timeout(4), session.get(url) as answer:
            return await answer.text()
    finally:
        await runner.cleanup()

async def reached(runner):
    async with asyncio.timeout(4):
        reader, writer = await asyncio.open_connection(*runner.addresses[0])
        writer.write(b"GET / HTTP/1.0\\r\\n\\r\\n")
        return (await reader.readline())[9:12]
""",
    entries=(
        Entry("ClientSession", "x = aiohttp.ClientSession(trust_env=False)", "await asked(x)", "not", OLD_LOOP),
        Entry(
            "TCPConnector",
            "x = aiohttp.TCPConnector(limit=3)",
            "await asked(aiohttp.ClientSession(connector=x, connector_owner=False))",
            "not",
            OLD_LOOP,
        ),
        Entry("AppRunner (serving)", "x = await started()", "await reached(x)", "not", OLD_LOOP),
        Entry("Application", "x = web.Application(); _ = x.router.add_get('/', hello)", "len(x.router.routes())"),
        Entry("ClientTimeout", "x = aiohttp.ClientTimeout(total=3)", "x.total"),
        Entry("FormData", "x = aiohttp.FormData({'a': 'b'})", "x.is_multipart"),
    ),
)

AIOSQLITE = Library(
    "aiosqlite",
    environment="state",
    modules=("aiosqlite",),
    setup="""
import asyncio
import aiosqlite

async def base():
    made = await aiosqlite.connect(":memory:")
    await made.execute("create table t (n integer)")
    await made.executemany("insert into t values (?)", [(number,) for number in range(9)])
    await made.commit()
    return made

async def asked(made):
    async with asyncio.timeout(3):
        cursor = await made.execute("select sum(n) from t")
        return await cursor.fetchone()

async def next_of(cursor):
    async with asyncio.timeout(3):
        return await cursor.fetchone()
""",
    entries=(
        Entry("Connection", "x = await base()", "await asked(x)", "not", GONE),
        Entry("Cursor (begun)", "x = await (await base()).execute('select n from t')", "await next_of(x)", "not", GONE),
        Entry("Row", "x = aiosqlite.Row", "x.__name__"),
    ),
)

FSSPEC = Library(
    "fsspec",
    environment="state",
    modules=("fsspec", "aiohttp"),
    setup=_PAGES
    + """
import os, tempfile
import fsspec

place = tempfile.TemporaryDirectory()
with open(os.path.join(place.name, "lines"), "w", encoding="utf-8") as file:
    _ = file.write("one\\ntwo\\nthree\\nfour\\nfive\\nsix\\nseven\\neight\\nnine\\nten\\n")

def fetched(system):
    got, pages = [], Pages()
    with pages as url:
        fetching = threading.Thread(target=lambda: got.append(system.cat(url + "/a")), daemon=True)
        fetching.start()
        fetching.join(3)
    return got
""",
    entries=(
        Entry(
            "MemoryFileSystem", "x = fsspec.filesystem('memory'); x.pipe('/a', b'abc')", "x.cat('/a')", untold=SETTING
        ),
        Entry("LocalFileSystem", "x = fsspec.filesystem('file')", "x.size(place.name + '/lines')"),
        Entry(
            "OpenFile (being read)",
            "x = fsspec.open(place.name + '/lines', 'rt').open(); x.readline()",
            "x.readline()",
            untold="fsspec itself writes it down with another place in the file",
        ),
        Entry("FSMap", "x = fsspec.get_mapper('memory://m'); x['k'] = b'v'", "x['k']", untold=SETTING),
        Entry(
            "HTTPFileSystem",
            "x = fsspec.filesystem('http', client_kwargs={'trust_env': False})",
            "fetched(x)",
            "not",
            OLD_LOOP,
        ),
    ),
)

S3FS = Library(
    "s3fs",
    environment="catalogue",
    modules=("s3fs",),
    setup=_PAGES
    + """
import s3fs

def fetched(system):
    got, pages = [], Pages()
    with pages:
        fetching = threading.Thread(target=lambda: got.append(system.cat("bucket/key")), daemon=True)
        fetching.start()
        fetching.join(5)
    return got

with Pages() as address:
    pass
""",
    entries=(
        Entry(
            "S3FileSystem (used)",
            "x = s3fs.S3FileSystem(anon=True, endpoint_url=address)",
            "fetched(x)",
            "not",
            OLD_LOOP,
        ),
    ),
)

HTTPX = Library(
    "httpx",
    environment="catalogue",
    modules=("httpx",),
    setup=_PAGES
    + """
import httpx

def answered(client):
    with Pages() as url:
        return client.get(url).text

async def answered_later(client):
    with Pages() as url:
        return (await client.get(url)).text
""",
    entries=(
        Entry("httpx.Client", "x = httpx.Client(trust_env=False)", "answered(x)"),
        Entry("httpx.AsyncClient", "x = httpx.AsyncClient(trust_env=False)", "await answered_later(x)"),
        Entry("httpx.Response", "x = httpx.Response(200, json=[1])", "x.json()"),
        Entry("httpx.Request", "x = httpx.Request('POST', 'http://a.test/', data={'a': 1})", "x.read()"),
        Entry("httpx.Cookies", "x = httpx.Cookies({'a': 'b'})", "dict(x)"),
        Entry("httpx.URL", "x = httpx.URL('http://a.test/b?c=1')", "x.params['c']"),
    ),
)

CLIENTS = Library(
    "redis, pymongo and boto3",
    environment="catalogue",
    modules=("redis", "pymongo", "boto3", "moto"),
    setup="""
import os, socketserver, threading
import boto3, bson, moto, pymongo, redis

class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        while (head := self.rfile.readline()):
            words = []
            for _ in range(int(head[1:])):
                words.append(self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2].upper())
            self.wfile.write(b"$5\\r\\nvalue\\r\\n" if words[0] == b"GET" else b"+OK\\r\\n")

class Redis(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

port = 0

def asked(client):
    global port
    with Redis(("127.0.0.1", port), Answer) as server:
        port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        if callable(client):
            client = client()
        try:
            return client.get("key")
        finally:
            server.shutdown()
            client.connection_pool.disconnect()

def connected():
    asked(lambda: redis.Redis(port=port, protocol=2))
    return redis.Redis(port=port, protocol=2)

os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1")
mocked = moto.mock_aws()
mocked.start()

def bucket():
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    client.put_object(Bucket="bucket", Key="k", Body=b"body")
    return client
""",
    entries=(
        Entry(
            "redis.Redis",
            "x = connected()",
            "asked(x)",
            untold="it compares what it was given with an object inside of its module",
        ),
        Entry("redis.client.Pipeline", "x = redis.Redis(port=1).pipeline().set('a', 1)", "len(x)"),
        Entry("redis.ConnectionPool", "x = redis.ConnectionPool(port=1, max_connections=3)", "x.max_connections"),
        Entry(
            "pymongo.MongoClient (its server is away)",
            "x = pymongo.MongoClient('127.0.0.1', 1, serverSelectionTimeoutMS=100)",
            "x.topology_description.topology_type_name",
        ),
        Entry("pymongo.Collection", "x = pymongo.MongoClient('127.0.0.1', 1, connect=False).base.rows", "x.full_name"),
        Entry("bson.ObjectId", "x = bson.ObjectId('5f5b5c5d5e5f606162636465')", "x.generation_time.year"),
        Entry("bson.BSON", "x = bson.encode({'a': [1, 2]})", "bson.decode(x)"),
        Entry("boto3 client", "x = bucket()", "x.get_object(Bucket='bucket', Key='k')['Body'].read()"),
        Entry(
            "boto3 resource",
            "_ = bucket(); x = boto3.resource('s3').Bucket('bucket')",
            "[o.key for o in x.objects.all()]",
        ),
        Entry(
            "boto3 paginator",
            "x = bucket().get_paginator('list_objects_v2')",
            "[page['KeyCount'] for page in x.paginate(Bucket='bucket')]",
        ),
        Entry("boto3.Session", "x = boto3.Session()", "x.region_name"),
    ),
)

KAFKA = Library(
    "confluent-kafka",
    environment="catalogue",
    modules=("confluent_kafka",),
    back="not",
    setup="""
import confluent_kafka
from confluent_kafka.admin import AdminClient

nowhere = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}

def given_up(producer):
    # No broker is there: what is sent comes back as an error after its time, which needs the producer's threads.
    producer.produce("topic", b"message")
    return producer.flush(4)
""",
    entries=(
        Entry(
            "Producer",
            "x = confluent_kafka.Producer({**nowhere, 'message.timeout.ms': 300})",
            "given_up(x)",
            because=NO_VALUE,
        ),
        Entry(
            "Consumer",
            "x = confluent_kafka.Consumer({**nowhere, 'group.id': 'g'}); x.subscribe(['t'])",
            "x.poll(0.1)",
            because=NO_VALUE,
        ),
        Entry("AdminClient", "x = AdminClient(nowhere)", "len(x) * 0", because=NO_VALUE),
        Entry(
            "TopicPartition", "x = confluent_kafka.TopicPartition('t', 1, 5)", "(x.topic, x.offset)", because=NO_VALUE
        ),
        Entry("KafkaError", "x = confluent_kafka.KafkaError(3)", "x.name()", "by_value"),
    ),
)

MESSAGES_AND_WEB = (GRPC, PYZMQ, AIOHTTP, AIOSQLITE, FSSPEC, S3FS, HTTPX, CLIENTS, KAFKA)
