"""pyarrow: columns in memory that are computed on in parallel."""

from tests.state.catalogue.entry import Entry, Library

PYARROW = Library(
    "pyarrow",
    environment="heavy",
    modules=("pyarrow",),
    setup="""
import tempfile
import pyarrow as pa, pyarrow.compute as pc, pyarrow.dataset, pyarrow.parquet, pyarrow.csv

table = pa.table({"key": ["a", "b"] * 50_000, "value": range(100_000)})
folder = tempfile.TemporaryDirectory()
pa.parquet.write_table(table, folder.name + "/t.parquet", row_group_size=10_000)
totals = "x.group_by('key').aggregate([('value', 'sum')]).sort_by('key').to_pydict()"
""",
    entries=(
        Entry("Table", "x = table", "x.group_by('key').aggregate([('value', 'sum')]).sort_by('key').to_pydict()"),
        Entry("RecordBatch", "x = table.to_batches()[0]", "pc.sum(x.column(1)).as_py()"),
        Entry("Array", "x = pa.array([1, None, 3])", "x.to_pylist()"),
        Entry("ChunkedArray", "x = pa.chunked_array([[1, 2], [3]])", "pc.sum(x).as_py()"),
        Entry("DictionaryArray", "x = pa.array(['a', 'b', 'a']).dictionary_encode()", "x.indices.to_pylist()"),
        Entry("StructArray", "x = pa.array([{'a': 1}, {'a': 2}])", "x.field('a').to_pylist()"),
        Entry("Scalar", "x = pa.scalar(5)", "pc.add(x, 1).as_py()"),
        Entry("Schema", "x = table.schema", "x.names"),
        Entry("DataType", "x = pa.list_(pa.int8())", "str(x)"),
        Entry("Buffer", "x = pa.py_buffer(b'abc')", "x.to_pybytes()"),
        Entry("compute.Expression", "x = pc.field('value') > 99_990", "table.filter(x).num_rows"),
        Entry(
            "dataset.Dataset", "x = pa.dataset.dataset(folder.name)", "x.count_rows(filter=pc.field('value') > 50_000)"
        ),
        Entry(
            "parquet.ParquetFile",
            "x = pa.parquet.ParquetFile(folder.name + '/t.parquet')",
            "x.read(use_threads=True).num_rows",
        ),
        Entry(
            "RecordBatchReader (begun)",
            "x = table.to_reader(1000); x.read_next_batch()",
            "x.read_next_batch().column(1)[0].as_py()",
        ),
        Entry(
            "fs.LocalFileSystem",
            "from pyarrow import fs; x = fs.LocalFileSystem()",
            "len(x.get_file_info(fs.FileSelector(folder.name)))",
        ),
    ),
)
