"""pillow, requests, lxml, beautifulsoup4, attrs, pydantic and sqlalchemy."""

from tests.state.catalogue.entry import Entry, Library

PILLOW = Library(
    "pillow",
    environment="heavy",
    modules=("PIL",),
    setup="""
import io
from PIL import Image, ImageDraw, ImageFont

def encoded(form):
    target = io.BytesIO()
    Image.new("RGB", (40, 30), "navy").save(target, form)
    return io.BytesIO(target.getvalue())
""",
    entries=(
        Entry("Image", "x = Image.new('RGB', (40, 30), 'red')", "x.resize((4, 3)).getpixel((1, 1))"),
        Entry("Image (not read yet)", "x = Image.open(encoded('PNG'))", "x.getpixel((1, 1))"),
        Entry(
            "Image with a palette",
            "x = Image.new('P', (4, 4)); x.putpalette(range(12))",
            "x.convert('RGB').getpixel((0, 0))",
        ),
        Entry(
            "ImageDraw",
            "canvas = Image.new('L', (9, 9)); x = ImageDraw.Draw(canvas)",
            "x.line((0, 0, 8, 8), fill=255) or sum(canvas.tobytes())",
        ),
        Entry("ImageFont", "x = ImageFont.load_default()", "round(x.getlength('abc'), 3) > 1"),
    ),
)

REQUESTS = Library(
    "requests",
    environment="heavy",
    modules=("requests",),
    setup="""
import http.server, threading
import requests

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"page")
    def log_message(self, *args):
        pass

def answered(session):
    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        one = threading.Thread(target=server.handle_request, daemon=True)
        one.start()
        got = session.get(f"http://127.0.0.1:{server.server_address[1]}/", timeout=5)
        one.join(5)
        return got

plain = requests.Session()
plain.trust_env = False
""",
    entries=(
        Entry(
            "Session",
            "x = requests.Session(); x.trust_env = False; x.cookies.set('a', 'b')",
            "(answered(x).text, x.cookies.get('a'))",
        ),
        Entry("Response", "x = answered(plain)", "(x.status_code, x.text)"),
        Entry("PreparedRequest", "x = requests.Request('POST', 'http://a.test/', json=[1]).prepare()", "x.body"),
        Entry("RequestsCookieJar", "x = requests.cookies.cookiejar_from_dict({'a': 'b'})", "x.get_dict()"),
    ),
)

MARKUP = Library(
    "lxml and beautifulsoup4",
    environment="heavy",
    modules=("lxml", "bs4"),
    setup="import bs4, io, lxml.etree as ET, lxml.html\npage = '<body><p class=\"a\">one</p><p>two</p></body>'",
    entries=(
        Entry("lxml.etree.Element", "x = ET.fromstring('<a><b n=\"1\"/></a>')", "x.xpath('//b/@n')"),
        Entry("lxml.etree.ElementTree", "x = ET.ElementTree(ET.fromstring('<a/>'))", "x.getroot().tag"),
        Entry("lxml.etree.XPath", "x = ET.XPath('count(//b)')", "x(ET.fromstring('<a><b/><b/></a>'))"),
        Entry(
            "lxml.etree.XSLT",
            'x = ET.XSLT(ET.fromstring(\'<t:stylesheet version="1.0" xmlns:t="http://www.w3.org/1999/XSL/Transform">'
            '<t:template match="/"><z/></t:template></t:stylesheet>\'))',
            "x(ET.fromstring('<a/>')).getroot().tag",
        ),
        Entry(
            "lxml.etree.iterparse (begun)",
            "x = ET.iterparse(io.BytesIO(b'<a><b/><c/><d/></a>')); next(x)",
            "next(x)[1].tag",
        ),
        Entry("lxml.html.HtmlElement", "x = lxml.html.fromstring(page)", "x.text_content()"),
        Entry("bs4.BeautifulSoup", "x = bs4.BeautifulSoup(page, 'lxml')", "[p.text for p in x.select('p')]"),
        Entry("bs4.Tag", "x = bs4.BeautifulSoup(page, 'html.parser').p", "x.find_next_sibling('p').text"),
    ),
)

RECORDS = Library(
    "attrs, pydantic and sqlalchemy",
    environment="heavy",
    modules=("attrs", "pydantic", "sqlalchemy"),
    setup="""
import attrs, pydantic, sqlalchemy as sa
from sqlalchemy import orm

@attrs.define
class Box:
    side: int = attrs.field(validator=attrs.validators.ge(0))

class User(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(gt=0)

class Base(orm.DeclarativeBase):
    pass

class Row(Base):
    __tablename__ = "rows"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str]

def filled():
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Row(name="a"), Row(name="b")])
        session.commit()
    return engine
""",
    entries=(
        Entry("attrs class", "x = Box(3)", "attrs.evolve(x, side=4)"),
        Entry("pydantic.BaseModel", "x = User(name='a', age=3)", "x.model_copy(update={'age': 4}).model_dump_json()"),
        Entry("pydantic.TypeAdapter", "x = pydantic.TypeAdapter(list[int])", "x.validate_python(['1', 2])"),
        Entry(
            "sqlalchemy.Engine", "x = filled()", "x.connect().execute(sa.text('select count(*) from rows')).scalar()"
        ),
        Entry("sqlalchemy.orm.Session", "x = orm.Session(filled())", "[row.name for row in x.scalars(sa.select(Row))]"),
        Entry("sqlalchemy.orm object", "held = orm.Session(filled()); x = held.get(Row, 1)", "x.name"),
        Entry("sqlalchemy.Select", "x = sa.select(Row.name).where(Row.id > 1)", "str(x)"),
        Entry("sqlalchemy.MetaData", "x = Base.metadata", "list(x.tables)"),
    ),
)
