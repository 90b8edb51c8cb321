"""matplotlib: figures and their parts, as a notebook leaves them."""

from tests.state.catalogue.entry import Entry, Library

MATPLOTLIB = Library(
    "matplotlib",
    environment="data",
    modules=("matplotlib",),
    setup="""
import hashlib, io
import matplotlib
matplotlib.use("agg")
import matplotlib.animation, matplotlib.cm, matplotlib.path, matplotlib.pyplot as plt, matplotlib.transforms

def drawn(figure):
    target = io.BytesIO()
    figure.savefig(target, format="png", metadata={"Software": None})
    return hashlib.sha256(target.getvalue()).hexdigest()

def plotted():
    figure, axes = plt.subplots()
    axes.plot([1, 3, 2], label="line")
    axes.legend()
    return figure
""",
    entries=(
        Entry("figure.Figure", "x = plotted()", "drawn(x)"),
        Entry("axes.Axes", "x = plotted().axes[0]", "(x.set_title('t').get_text(), x.get_xlim())"),
        Entry("lines.Line2D", "x = plotted().axes[0].lines[0]", "x.get_ydata().tolist()"),
        Entry("legend.Legend", "x = plotted().axes[0].get_legend()", "[text.get_text() for text in x.get_texts()]"),
        Entry("image.AxesImage", "x = plt.figure().add_subplot().imshow([[0, 1], [2, 3]])", "x.get_array().sum()"),
        Entry("pyplot's current figure", "plt.figure(77); x = plt", "x.gcf().number in x.get_fignums()"),
        Entry("colors.Colormap", "x = matplotlib.colormaps['viridis']", "x(0.5)"),
        Entry("path.Path", "x = matplotlib.path.Path([(0, 0), (1, 0), (1, 1)])", "bool(x.contains_point((0.9, 0.2)))"),
        Entry(
            "transforms.Affine2D",
            "x = matplotlib.transforms.Affine2D().rotate_deg(90)",
            "x.transform((1, 0)).round(9).tolist()",
        ),
        Entry(
            "RcParams", "matplotlib.rcParams['lines.linewidth'] = 7.5; x = matplotlib.rcParams", "x['lines.linewidth']"
        ),
        Entry(
            "animation.FuncAnimation",
            "moving = plotted(); x = matplotlib.animation.FuncAnimation(moving, lambda n: [], frames=3, blit=False)",
            "(next(x.new_frame_seq()), x._draw_was_started)",
        ),
        Entry("canvas", "x = plotted().canvas", "(x.draw(), x.get_width_height())"),
    ),
)
