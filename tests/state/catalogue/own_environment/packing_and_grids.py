"""Hashes, compressors, and arrays and maps in files."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

_PLACE = """
import os, tempfile
import numpy as np

place = tempfile.TemporaryDirectory()
numbers = np.arange(60_000.0).reshape(300, 200)

def at(name):
    return os.path.join(place.name, name)
"""

BLAKE3 = Library(
    "blake3",
    environment="state",
    modules=("blake3",),
    back="by_value",
    setup="""
from blake3 import blake3

data = bytes(range(256)) * 40_000

def hasher():
    made = blake3(max_threads=blake3.AUTO)
    made.update(data)
    return made

_ = hasher().hexdigest()
""",
    entries=(
        Entry("blake3 (begun)", "x = hasher()", "x.update(data).hexdigest()", "not", NO_VALUE),
        Entry("blake3 with a key", "x = blake3(b'k' * 32)", "x.update(b'a').hexdigest()", "not", NO_VALUE),
        Entry("digest", "x = hasher().digest()", "x == blake3(data, max_threads=blake3.AUTO).digest()"),
    ),
)

BLOSC2 = Library(
    "blosc2",
    environment="state",
    modules=("blosc2", "numpy"),
    back="by_value",
    setup=_PLACE
    + """
import blosc2

blosc2.set_nthreads(2)
array = blosc2.asarray(np.arange(2_000_000.0))
_ = float(array[5:10].sum())
""",
    entries=(
        Entry("NDArray", "x = array", "float(x[1000:500_000].sum())", "not", NO_VALUE),
        Entry("SChunk", "x = blosc2.SChunk(data=numbers.tobytes())", "len(x[:80])", "not", NO_VALUE),
        Entry("bytes it packed", "x = blosc2.compress2(numbers.tobytes())", "len(blosc2.decompress2(x))"),
        Entry("ndarray beside it", "x = array[:]", "float(x.sum())"),
        Entry("Codec", "x = blosc2.Codec.ZSTD", "x.name"),
    ),
)

NUMCODECS = Library(
    "numcodecs",
    back="by_value",
    environment="catalogue",
    modules=("numcodecs",),
    setup="""
import numcodecs, numcodecs.blosc, numpy as np
numcodecs.blosc.use_threads = True
_ = numcodecs.blosc.set_nthreads(2)
numbers = np.arange(400_000)

def there_and_back(codec):
    return int(np.frombuffer(codec.decode(codec.encode(numbers)), numbers.dtype).sum())
""",
    entries=(
        Entry("Blosc", "x = numcodecs.Blosc()", "there_and_back(x)"),
        Entry("Zstd", "x = numcodecs.Zstd(level=3)", "there_and_back(x)"),
        Entry("LZ4", "x = numcodecs.LZ4()", "there_and_back(x)"),
        Entry("Delta", "x = numcodecs.Delta(dtype='i8')", "there_and_back(x)"),
    ),
)

ZARR = Library(
    "zarr",
    environment="catalogue",
    modules=("zarr",),
    setup=_PLACE
    + """
import zarr

def made(store):
    array = zarr.create_array(store=store, shape=numbers.shape, chunks=(50, 50), dtype="f8")
    array[:] = numbers
    return array
""",
    entries=(
        Entry("Array (in memory)", "x = made({})", "float(np.asarray(x[10:20]).sum())"),
        Entry("Array (in files)", "x = made(at('a.zarr'))", "float(np.asarray(x[10:20]).sum())"),
        Entry(
            "Group",
            "x = zarr.open_group(at('g.zarr'), mode='w'); _ = x.create_array('a', shape=3, dtype='i4')",
            "sorted(x.array_keys())",
        ),
    ),
)

HDF = Library(
    "h5py, netCDF4 and pytables",
    environment="catalogue",
    modules=("h5py", "netCDF4", "tables"),
    setup=_PLACE
    + """
import h5py, netCDF4, tables

def hdf(name):
    file = h5py.File(at(name), "w")
    file["a"] = numbers
    return file

def grid(name):
    data = netCDF4.Dataset(at(name), "w")
    data.createDimension("n", None)
    data.createVariable("v", "f8", ("n",))[:] = numbers[0]
    return data

class Row(tables.IsDescription):
    n = tables.Int32Col()

def table(name):
    file = tables.open_file(at(name), "w")
    made = file.create_table("/", "t", Row)
    made.append([(number,) for number in range(100)])
    made.flush()
    return made

def appended(variable):
    variable[len(variable)] = 1.5
    return (len(variable), float(variable[:].sum()))
""",
    entries=(
        Entry("h5py.File (being written)", "x = hdf('a.h5')", "float(x['a'][3].sum())"),
        Entry("h5py.Dataset", "x = hdf('b.h5')['a']", "(x.__setitem__((0, 0), x[0, 0] + 1), float(x[0, 0]))"),
        Entry("h5py.Group", "x = hdf('c.h5').create_group('g')", "x.name"),
        Entry(
            "h5py.Dataset in chunks",
            "x = hdf('d.h5').create_dataset('p', data=numbers, compression='gzip')",
            "float(x[5].sum())",
        ),
        Entry("netCDF4.Dataset (being written)", "x = grid('a.nc')", "appended(x['v'])"),
        Entry("netCDF4.Variable", "x = grid('b.nc')['v']", "appended(x)"),
        Entry("tables.File", "x = table('a.tab')._v_file", "x.root.t.nrows"),
        Entry("tables.Table", "x = table('b.tab')", "(x.append([(5,)]), x.flush(), x.nrows)"),
        Entry(
            "tables.Table, its iterator (begun)", "held = table('c.tab'); x = held.iterrows(); next(x)", "next(x)['n']"
        ),
        Entry(
            "tables.EArray",
            "x = table('d.tab')._v_file.create_earray('/', 'e', obj=numbers[0])",
            "(x.append(numbers[1]), float(x[:].sum()))",
        ),
    ),
)

NUMEXPR = Library(
    "numexpr",
    environment="catalogue",
    modules=("numexpr",),
    setup="import numexpr as ne, numpy as np\n_ = ne.set_num_threads(2)\na = np.arange(1_000_000.0)\n"
    "_ = ne.evaluate('a * 2 + 1')",
    entries=(
        Entry("NumExpr", "x = ne.NumExpr('a * 2 + 1', [('a', ne.necompiler.double)])", "float(x(a).sum())"),
        Entry("the last expression", "_ = ne.evaluate('a * 3'); x = ne", "float(x.evaluate('a * 3').sum())"),
    ),
)

MAPS = Library(
    "geopandas",
    environment="catalogue",
    modules=("geopandas", "shapely", "pyproj"),
    setup="""
import geopandas, pyproj, shapely

places = geopandas.GeoSeries([shapely.Point(n, n) for n in range(50)], crs="EPSG:4326")
""",
    entries=(
        Entry(
            "GeoDataFrame",
            "x = geopandas.GeoDataFrame({'n': range(50)}, geometry=places)",
            "int(x.cx[0:9.5, 0:9.5].n.sum())",
        ),
        Entry("GeoSeries", "x = places", "round(float(x.to_crs(3857).x.sum()), 3)"),
        Entry("SpatialIndex", "x = places.sindex", "sorted(x.query(shapely.box(1, 1, 3, 3)).tolist())"),
        Entry("shapely.Polygon", "x = shapely.Point(0, 0).buffer(2)", "round(x.area, 6)"),
        Entry("shapely.STRtree", "x = shapely.STRtree(list(places))", "int(x.nearest(shapely.Point(7.2, 7)))"),
        Entry(
            "shapely.prepared geometry",
            "x = shapely.box(0, 0, 5, 5); shapely.prepare(x)",
            "int(shapely.contains(x, list(places)).sum())",
        ),
        Entry(
            "pyproj.Transformer",
            "x = pyproj.Transformer.from_crs(4326, 3857, always_xy=True)",
            "round(x.transform(1, 1)[0], 3)",
        ),
        Entry("pyproj.CRS", "x = pyproj.CRS(4326)", "x.name"),
    ),
)

RASTERIO = Library(
    "rasterio",
    environment="catalogue",
    modules=("rasterio",),
    back="by_value",
    setup=_PLACE
    + """
import rasterio
from rasterio.io import MemoryFile

shape = dict(driver="GTiff", width=1024, height=1024, count=1, dtype="uint8", tiled=True, compress="deflate")
big = (np.arange(1024 * 1024) % 251).astype("uint8").reshape(1024, 1024)

def picture(name):
    with rasterio.open(at(name), "w", num_threads=2, **shape) as file:
        file.write(big, 1)
    return at(name)

first = picture("a.tif")

def read(file):
    return int(file.read(1).sum())
""",
    entries=(
        Entry("DatasetReader", "x = rasterio.open(first, num_threads=2)", "read(x)", "not", NO_VALUE),
        Entry(
            "DatasetWriter",
            "x = rasterio.open(at('b.tif'), 'w', num_threads=2, **shape)",
            "(x.write(big, 1), x.width)[1]",
            "not",
            NO_VALUE,
        ),
        Entry("MemoryFile", "x = MemoryFile(open(first, 'rb').read())", "read(x.open())", "not", NO_VALUE),
        Entry("Affine", "x = rasterio.Affine.translation(1, 2)", "x * (1, 1)"),
        Entry("rasterio.crs.CRS", "x = rasterio.crs.CRS.from_epsg(4326)", "x.to_epsg()"),
        Entry(
            "Window", "x = rasterio.windows.Window(0, 0, 10, 10)", "int(rasterio.open(first).read(1, window=x).sum())"
        ),
    ),
)

PACKING_AND_GRIDS = (BLAKE3, BLOSC2, NUMCODECS, ZARR, HDF, NUMEXPR, MAPS, RASTERIO)
