"""Models: boosted trees, text, inference engines, and learning on arrays that a compiler takes apart."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

_ROWS = """
import numpy as np

rows = np.random.default_rng(1).random((600, 6))
labels = (rows[:, 0] > 0.5).astype(int)

def summed(predicted):
    return round(float(np.asarray(predicted, dtype=float).sum()), 6)

"""

LIGHTGBM = Library(
    "lightgbm",
    environment="catalogue",
    modules=("lightgbm", "sklearn"),
    setup=_ROWS + "import lightgbm\n",
    entries=(
        Entry(
            "Booster",
            "data = lightgbm.Dataset(rows, labels); x = lightgbm.train({'verbose': -1, 'num_threads': 2}, data, 5)",
            "summed(x.predict(rows))",
        ),
        Entry(
            "LGBMClassifier",
            "x = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(rows, labels)",
            "summed(x.fit(rows, labels).predict(rows))",
        ),
        Entry("Dataset", "x = lightgbm.Dataset(rows, labels, params={'verbose': -1}).construct()", "x.num_data()"),
    ),
)

XGBOOST = Library(
    "xgboost",
    environment="catalogue",
    modules=("xgboost", "sklearn"),
    setup=_ROWS + "import xgboost\n",
    entries=(
        Entry(
            "Booster",
            "x = xgboost.train({'nthread': 2}, xgboost.DMatrix(rows, labels), 5)",
            "summed(x.predict(xgboost.DMatrix(rows)))",
        ),
        Entry(
            "XGBRegressor",
            "x = xgboost.XGBRegressor(n_estimators=5, n_jobs=2).fit(rows, labels)",
            "summed(x.fit(rows, labels).predict(rows))",
        ),
        Entry("DMatrix", "x = xgboost.DMatrix(rows, labels)", "x.num_row()"),
    ),
)

CATBOOST = Library(
    "catboost",
    back="by_value",
    environment="catalogue",
    modules=("catboost", "sklearn"),
    setup=_ROWS + "import catboost\n",
    entries=(
        Entry(
            "CatBoostClassifier",
            "x = catboost.CatBoostClassifier(iterations=5, verbose=0, thread_count=2, allow_writing_files=False)"
            ".fit(rows, labels)",
            "summed(x.fit(rows, labels).predict_proba(rows)[:, 0])",
        ),
        Entry("Pool", "x = catboost.Pool(rows, labels)", "x.num_row()", back="not", because=NO_VALUE),
    ),
)

ENGINES = Library(
    "onnxruntime",
    environment="catalogue",
    modules=("onnxruntime", "onnx"),
    setup="""
import numpy as np, onnx, onnx.helper as oh, onnxruntime as ort

def model():
    kind = onnx.TensorProto.FLOAT
    graph = oh.make_graph(
        [oh.make_node("MatMul", ["a", "a"], ["b"])],
        "g",
        [oh.make_tensor_value_info("a", kind, [300, 300])],
        [oh.make_tensor_value_info("b", kind, [300, 300])],
    )
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=8)

options = ort.SessionOptions()
options.intra_op_num_threads = 2
square = np.full((300, 300), 0.5, "f4")

def session():
    return ort.InferenceSession(model().SerializeToString(), options, providers=["CPUExecutionProvider"])
""",
    entries=(
        Entry(
            "InferenceSession",
            "x = session(); _ = x.run(None, {'a': square})",
            "float(x.run(None, {'a': square})[0][0, 0])",
        ),
        Entry("OrtValue", "x = ort.OrtValue.ortvalue_from_numpy(square)", "float(x.numpy().sum())"),
        Entry("SessionOptions", "x = options", "x.intra_op_num_threads"),
        Entry("onnx.ModelProto", "x = model()", "x.graph.node[0].op_type"),
    ),
)

OPENVINO = Library(
    "openvino",
    environment="catalogue",
    modules=("openvino",),
    setup="""
import numpy as np, openvino as ov
import openvino.opset13 as ops

square = np.full((300, 300), 0.5, "f4")

def model():
    given = ops.parameter([300, 300], np.float32, name="a")
    return ov.Model([ops.matmul(given, given, False, False)], [given], "m")

def compiled():
    made = ov.Core().compile_model(model(), "CPU", {"INFERENCE_NUM_THREADS": 2})
    _ = made(square)
    return made
""",
    entries=(
        Entry("CompiledModel", "x = compiled()", "float(x(square)[0][0, 0])"),
        Entry(
            "InferRequest", "held = compiled(); x = held.create_infer_request()", "float(x.infer([square])[0][0, 0])"
        ),
        Entry("Core", "x = ov.Core()", "'CPU' in x.available_devices"),
        Entry("openvino.Model", "x = model()", "len(x.get_ops())"),
        Entry("openvino.Tensor", "x = ov.Tensor(square)", "float(x.data.sum())"),
    ),
)

TEXT = Library(
    "tokenizers and spacy",
    environment="catalogue",
    modules=("tokenizers", "spacy"),
    setup="""
import spacy, spacy.matcher, tokenizers
from tokenizers import models, pre_tokenizers, trainers

words = ["a small text that has words", "words that are small", "another one"] * 20

def trained():
    made = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.train_from_iterator(words, trainers.BpeTrainer(vocab_size=60, special_tokens=["[UNK]"], show_progress=False))
    return made

english = spacy.blank("en")
_ = english.add_pipe("sentencizer")

def matcher():
    made = spacy.matcher.Matcher(english.vocab)
    made.add("W", [[{"LOWER": "words"}]])
    return made
""",
    entries=(
        Entry(
            "tokenizers.Tokenizer",
            "x = trained(); _ = x.encode_batch(words)",
            "sum(len(encoded.ids) for encoded in x.encode_batch(words))",
        ),
        Entry("tokenizers.Encoding", "x = trained().encode('small words')", "x.tokens"),
        Entry("tokenizers.AddedToken", "x = tokenizers.AddedToken('[S]', special=True)", "x.content"),
        Entry("spacy.Language", "x = english", "len(list(x('One. Two.').sents))"),
        Entry("spacy.Doc", "x = english('Some words here.')", "[token.text for token in x]"),
        Entry("spacy.Span", "x = english('Some words here.')[1:3]", "x.text"),
        Entry("spacy.Matcher", "x = matcher()", "len(x(english('words and words')))"),
        Entry("Language.pipe (begun)", "x = english.pipe(words); _ = next(x)", "len(next(x))"),
        Entry("spacy.DocBin", "x = spacy.tokens.DocBin(docs=[english('a b')])", "len(list(x.get_docs(english.vocab)))"),
    ),
)

GENSIM = Library(
    "gensim",
    environment="catalogue",
    modules=("gensim",),
    setup="""
import gensim
from gensim.corpora import Dictionary

texts = [["a", "red", "fox"], ["a", "grey", "wolf"], ["red", "deer"]] * 20
names = Dictionary(texts)
bags = [names.doc2bow(text) for text in texts]
""",
    entries=(
        Entry(
            "Word2Vec",
            "x = gensim.models.Word2Vec(texts, vector_size=8, min_count=1, workers=2, epochs=1)",
            "(x.train(texts, total_examples=60, epochs=1), x.wv['fox'].shape)[1]",
        ),
        Entry(
            "KeyedVectors",
            "x = gensim.models.Word2Vec(texts, vector_size=8, min_count=1, workers=1, seed=1).wv",
            "len(x.most_similar('fox', topn=2))",
        ),
        Entry("Dictionary", "x = names", "x.token2id['fox'] >= 0"),
        Entry("TfidfModel", "x = gensim.models.TfidfModel(bags)", "len(x[bags[0]])"),
        Entry(
            "LdaModel",
            "x = gensim.models.LdaModel(bags, num_topics=2, id2word=names, random_state=1)",
            "len(x.get_document_topics(bags[0], minimum_probability=0))",
        ),
    ),
)

TRANSFORMERS = Library(
    "transformers",
    environment="catalogue",
    modules=("transformers", "torch", "tokenizers"),
    setup="""
import os
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
import torch, transformers
from tokenizers import Tokenizer, models, pre_tokenizers

def tokenizer():
    base = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "a": 2, "fox": 3}, unk_token="[UNK]"))
    base.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=base, unk_token="[UNK]", pad_token="[PAD]")

def tiny():
    torch.manual_seed(1)
    return transformers.BertModel(transformers.BertConfig(
        vocab_size=4, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)).eval()

def computed(model):
    with torch.no_grad():
        return round(model(input_ids=torch.tensor([[2, 3]])).last_hidden_state.abs().sum().item(), 4)
""",
    entries=(
        Entry("PreTrainedModel", "x = tiny()", "computed(x)"),
        Entry("PreTrainedTokenizerFast", "x = tokenizer()", "x('a fox')['input_ids']"),
        Entry("PretrainedConfig", "x = transformers.BertConfig(hidden_size=16)", "x.hidden_size"),
        Entry("BatchEncoding", "x = tokenizer()(['a', 'fox'])", "x.input_ids"),
        Entry("GenerationConfig", "x = transformers.GenerationConfig(max_length=9)", "x.max_length"),
    ),
)

JAX = Library(
    "jax",
    environment="catalogue",
    modules=("jax",),
    back="by_value",
    setup="""
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp

square = jnp.full((300, 300), 0.5)

def doubled(value):
    return value * 2
_ = (square @ square).block_until_ready()
""",
    entries=(
        Entry("Array", "x = square", "float((x @ x)[0, 0])"),
        Entry("jit", "x = jax.jit(doubled)", "float(x(3.0))"),
        Entry("grad", "x = jax.grad(lambda value: value ** 2)", "float(x(3.0))"),
        Entry("vmap", "x = jax.vmap(doubled)", "x(jnp.arange(3)).tolist()"),
        Entry("random key", "x = jax.random.key(1)", "float(jax.random.uniform(x))"),
        Entry("pytree", "x = {'w': jnp.ones(3), 'b': [jnp.zeros(2)]}", "jax.tree.map(lambda leaf: leaf.shape, x)['w']"),
        Entry("jaxpr", "x = jax.make_jaxpr(doubled)(1.0)", "len(x.eqns)", back="not", because=NO_VALUE),
        Entry("ShapeDtypeStruct", "x = jax.ShapeDtypeStruct((2, 3), jnp.float32)", "x.shape"),
    ),
)

KERAS = Library(
    "keras",
    environment="catalogue",
    modules=("keras", "jax"),
    back="by_value",
    setup="""
import os
os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")
import keras, numpy as np

rows = np.random.default_rng(1).random((64, 4)).astype("f4")

def model():
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    made.compile("adam", "mse")
    made.fit(rows, rows[:, :1], epochs=1, verbose=0)
    return made

first = model()
""",
    entries=(
        Entry("Sequential", "x = first", "round(float(x.predict(rows, verbose=0).sum()), 3)"),
        Entry(
            "model with an optimizer (under way)",
            "x = model()",
            "round(x.fit(rows, rows[:, :1], epochs=1, verbose=0).history['loss'][0], 4) > 0",
        ),
        Entry("Layer", "x = keras.layers.Dense(2); _ = x(rows)", "x.kernel.shape"),
        Entry("Variable", "x = keras.Variable([1.0, 2.0])", "float(keras.ops.sum(x))"),
        Entry("History", "x = first.history.history", "sorted(x)"),
        Entry("Optimizer", "x = keras.optimizers.Adam(0.01)", "round(float(x.learning_rate), 4)"),
    ),
)

TENSORFLOW = Library(
    "tensorflow",
    environment="catalogue",
    modules=("tensorflow",),
    back="by_value",
    setup="""
import os
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow")
import numpy as np, tensorflow as tf

square = tf.fill((300, 300), 0.5)
_ = tf.matmul(square, square)

class Doubling(tf.Module):
    def __init__(self):
        self.factor = tf.Variable(2.0)

@tf.function
def tripled(value):
    return value * 3
""",
    entries=(
        Entry("Tensor", "x = square", "float(tf.matmul(x, x)[0, 0])"),
        Entry("Variable", "x = tf.Variable([1.0, 2.0])", "float(tf.reduce_sum(x))"),
        Entry("RaggedTensor", "x = tf.ragged.constant([[1], [2, 3]])", "x.to_list()"),
        Entry("SparseTensor", "x = tf.sparse.from_dense([[0, 1]])", "tf.sparse.to_dense(x).numpy().tolist()"),
        Entry("tf.Module", "x = Doubling()", "float(x.factor)"),
        Entry("tf.function", "x = tripled", "float(x(tf.constant(2.0)))", back="not", because=NO_VALUE),
        Entry(
            "tf.data.Dataset",
            "x = tf.data.Dataset.range(9).map(lambda n: n * 2, num_parallel_calls=2)",
            "sum(int(n) for n in x)",
            back="not",
            because=NO_VALUE,
        ),
        Entry(
            "tf.data iterator (begun)",
            "x = iter(tf.data.Dataset.range(50)); _ = next(x)",
            "int(next(x))",
            back="not",
            because=NO_VALUE,
        ),
        Entry("GradientTape", "x = tf.GradientTape(persistent=True)", "type(x).__name__"),
        Entry("DType", "x = tf.float32", "x.name"),
    ),
)

PROPHET = Library(
    "prophet",
    environment="catalogue",
    modules=("prophet",),
    back="by_value",
    setup="""
import logging
logging.getLogger("cmdstanpy").disabled = True
logging.getLogger("prophet").disabled = True
import pandas as pd, prophet

days = pd.DataFrame({"ds": pd.date_range("2026-01-01", periods=60), "y": [n + n % 7 for n in range(60)]})

def fitted():
    return prophet.Prophet(yearly_seasonality=False, daily_seasonality=False).fit(days, seed=1)
""",
    entries=(
        Entry("Prophet (fitted)", "x = fitted()", "len(x.predict(days.head(3)))"),
        Entry("forecast", "x = fitted().predict(days.head(3))", "'yhat' in x.columns"),
        Entry("Prophet (not fitted)", "x = prophet.Prophet()", "x.growth"),
    ),
)

MODELS = (
    LIGHTGBM,
    XGBOOST,
    CATBOOST,
    ENGINES,
    OPENVINO,
    TEXT,
    GENSIM,
    TRANSFORMERS,
    JAX,
    KERAS,
    TENSORFLOW,
    PROPHET,
)
