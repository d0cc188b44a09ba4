"""The file of vectors: what is refused, what is kept, and that a search is exact."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ctxcli.index.embedded import EmbeddedReader, open_writer
from ctxcli.index.vectors import FILE, VectorFile, open_vectors
from ctxcli.index.vectors_writer import PART
from ctxcli.model.errors import DataError, ServiceError
from ctxcli.model.ports import TextRole
from ctxcli.services.embedding import embed
from tests.fake_embedder import HashEmbedder
from tests.unit.index.made import SETTINGS, made

VALVES = " ".join(f"The valve {n} has no pump." for n in range(150))
TEXTS = {
    "docs/a.md": "# Vents\n\nThe vent opens at 28 degrees. It closes at night.\n",
    "docs/b.md": "# Pump\n\nThe pump starts at six.\n\n# Valve\n\n" + VALVES,
    "docs/甲.md": "# 灌溉\n\n水泵每天六点启动。阀门在七点关闭。\n",
}


def index(folder: Path, texts: dict[str, str] = TEXTS) -> EmbeddedReader:
    writer = open_writer(folder / "index", SETTINGS)
    writer.remove([record.path for record in writer.files() if record.path not in texts])
    for path, text in texts.items():
        writer.put(*made(path, text))
    writer.commit(["docs"])
    return EmbeddedReader(folder / "index")


def opened(folder: Path, reader: EmbeddedReader) -> VectorFile:
    return open_vectors(folder, commit=reader.stats["commit"], name="default")


def test_every_chunk_and_every_quotable_unit_has_a_vector(tmp_path: Path) -> None:
    reader = index(tmp_path)
    run = embed(tmp_path, reader, HashEmbedder())
    vectors = opened(tmp_path, reader)
    keys = {chunk.key for chunk in reader.all_chunks()}
    assert {vectors.key(row) for row in range(len(keys))} == keys
    assert (run.embedded, run.kept, run.dimensions) == (len(keys), 0, 8)
    assert vectors.header.units == sum(
        kind not in ("heading", "meta") for chunk in reader.all_chunks() for _, _, kind in chunk.units
    )
    assert vectors.is_whole()


def test_a_search_is_that_of_all_cosines(tmp_path: Path) -> None:
    reader = index(tmp_path, {f"docs/{n}.md": f"# T{n}\n\nText {n} of 水泵 {n}.\n" for n in range(40)})
    model = HashEmbedder()
    embed(tmp_path, reader, model)
    vectors = opened(tmp_path, reader)
    query = model.embed(["水泵"], role="query")[0]
    scale = vectors.header.scales["en-en"]
    cosines = vectors.rows @ query
    order = [vectors.key(int(row)) for row in np.argsort(-np.round(cosines, 5), kind="stable")]
    if scale.known:
        near = [key for key in order if cosines[vectors._row(key)] > scale.unrelated]
        assert vectors.nearest(query, "en", limit=10) == near[:10]
        docs = {key.rpartition(":")[0] for key in near[3:9]}
        assert vectors.nearest(query, "en", limit=99, docs=docs) == near[3:9]
        assert vectors.nearest(query, "en", limit=99, keys=near[5:7]) == near[5:7]
    else:
        assert vectors.nearest(query, "en", limit=10) == []


def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    embed(tmp_path, index(tmp_path), HashEmbedder())
    texts = {**TEXTS, "docs/a.md": TEXTS["docs/a.md"] + "\nIt is made of steel.\n", "docs/c.md": "# Fan\n\nIt turns.\n"}
    del texts["docs/甲.md"]
    model = HashEmbedder()
    run = embed(tmp_path, index(tmp_path, texts), model)
    assert run.embedded == 2
    assert not any("pump" in text for text in model.passages)
    assert embed(tmp_path, EmbeddedReader(tmp_path / "index"), HashEmbedder()).embedded == 0


def test_an_interrupted_run_is_gone_on_with(tmp_path: Path) -> None:
    reader = index(tmp_path, {f"docs/{n}.md": f"# T{n}\n\nText {n}.\n" for n in range(40)})
    with pytest.raises(ServiceError):
        embed(tmp_path, reader, HashEmbedder(most=120))
    assert (tmp_path / PART).stat().st_size > 0
    with pytest.raises(DataError, match="no vectors"):
        opened(tmp_path, reader)
    with (tmp_path / PART).open("ab") as stream:
        stream.write(b"\x01" * 30)
    model = HashEmbedder()
    assert embed(tmp_path, reader, model).embedded == 8
    assert not (tmp_path / PART).exists()
    other = tmp_path / "other"
    other.mkdir()
    embed(other, reader, HashEmbedder())
    assert (other / FILE).read_bytes() == (tmp_path / FILE).read_bytes()


def test_what_another_model_began_is_not_gone_on_with(tmp_path: Path) -> None:
    reader = index(tmp_path)
    with pytest.raises(ServiceError):
        embed(tmp_path, reader, HashEmbedder("other", most=100))
    embed(tmp_path, reader, HashEmbedder())
    assert opened(tmp_path, reader).header.fingerprint == "hash/8"


def test_another_model_embeds_all_anew(tmp_path: Path) -> None:
    reader = index(tmp_path)
    total = embed(tmp_path, reader, HashEmbedder()).embedded
    run = embed(tmp_path, reader, HashEmbedder("new", width=4))
    assert (run.embedded, run.kept, run.dimensions) == (total, 0, 4)


class ChangingEmbedder(HashEmbedder):
    """A service whose model changes behind its name: its rows are 4 numbers wide after the first `after` passages."""

    def __init__(self, *, after: int, back: int = 9999) -> None:
        super().__init__()
        self._after, self._back = after, back

    def embed(self, texts: Sequence[str], *, role: TextRole) -> NDArray[np.float32]:
        rows = super().embed(texts, role=role)
        return rows[:, :4] if self._after < len(self.passages) <= self._back else rows


def many(folder: Path, count: int = 40) -> EmbeddedReader:
    return index(folder, {f"docs/{n}.md": f"# T{n}\n\nText {n}. 第 {n} 段。\n" for n in range(count)})


@pytest.mark.parametrize("after", [0, 60, 110])
def test_a_model_that_changes_its_width_is_never_mixed(tmp_path: Path, after: int) -> None:
    reader = many(tmp_path)
    embed(tmp_path, reader, HashEmbedder()) if after == 0 else None
    reader = many(tmp_path, 41)
    run = embed(tmp_path, reader, ChangingEmbedder(after=after))
    vectors = opened(tmp_path, reader)
    assert (run.embedded, run.kept, run.dimensions, vectors.rows.shape) == (41, 0, 4, (41, 4))
    assert vectors.is_whole()


def test_what_was_begun_in_another_width_is_not_gone_on_with(tmp_path: Path) -> None:
    embed(tmp_path, many(tmp_path), HashEmbedder())
    reader = many(tmp_path, 60)
    with pytest.raises(ServiceError, match="numbers a text, and gave") as caught:
        embed(tmp_path, reader, ChangingEmbedder(after=0, back=150))
    assert caught.value.code == "model_changed"
    assert (tmp_path / PART).exists()
    run = embed(tmp_path, reader, HashEmbedder())
    assert (run.embedded, run.dimensions) == (60, 8)
    other = tmp_path / "other"
    other.mkdir()
    embed(other, reader, HashEmbedder())
    assert (other / FILE).read_bytes() == (tmp_path / FILE).read_bytes()


def test_vectors_of_another_commit_are_refused(tmp_path: Path) -> None:
    embed(tmp_path, index(tmp_path), HashEmbedder())
    reader = index(tmp_path, {**TEXTS, "docs/c.md": "# Fan\n\nIt turns.\n"})
    with pytest.raises(DataError, match="not those of its index") as caught:
        opened(tmp_path, reader)
    assert caught.value.code == "vectors_behind"
    assert "ctx kb index" in caught.value.hint


@pytest.mark.parametrize("at", [0, 9, 30, -1])
def test_a_damaged_file_is_refused_or_made_anew(tmp_path: Path, at: int) -> None:
    reader = index(tmp_path)
    total = embed(tmp_path, reader, HashEmbedder()).embedded
    data = bytearray((tmp_path / FILE).read_bytes())
    data[at] ^= 0xFF
    (tmp_path / FILE).write_bytes(data[:-1] if at == 30 else data)
    if at != -1:  # that last byte is a number that may be any
        with pytest.raises(DataError, match="damaged"):
            opened(tmp_path, reader)
    assert embed(tmp_path, reader, HashEmbedder()).embedded == total


@pytest.mark.parametrize("kind", ["chunk", "unit", "nan", "language", "zeros"])
def test_rows_that_are_not_as_they_were_written_are_not_used(tmp_path: Path, kind: str) -> None:
    reader = index(tmp_path)
    embed(tmp_path, reader, HashEmbedder())
    whole = opened(tmp_path, reader)
    query = HashEmbedder().embed(["水泵"], role="query")[0]
    keys = [whole.key(row) for row in range(whole.header.chunks)]
    whole.nearness(query, "en", keys)
    at = whole._places
    data = bytearray((tmp_path / FILE).read_bytes())
    if kind == "chunk":
        data[at.rows + 3] ^= 0x40  # an exponent
    elif kind == "unit":
        data[at.units + 1] ^= 0x40
    elif kind == "nan":
        data[at.rows : at.rows + 4] = b"\xff" * 4
    elif kind == "language":
        data[at.languages] = 7
    else:
        data[at.rows : at.rows + 8] = bytes(8)
    (tmp_path / FILE).write_bytes(data)
    found = opened(tmp_path, reader)
    assert not found.is_whole()
    with pytest.raises(DataError, match="damaged") as caught:
        found.nearness(query, "en", keys[:1])
    assert (caught.value.code, "ctx kb index" in caught.value.hint) == ("vectors_damaged", True)
    if kind == "nan":
        with pytest.raises(DataError, match="damaged"):
            found.nearest(query, "zh", limit=3)


def test_an_index_without_chunks_has_vectors_too(tmp_path: Path) -> None:
    reader = index(tmp_path, {"docs/a.py": ""})
    embed(tmp_path, reader, HashEmbedder())
    assert opened(tmp_path, reader).nearest(np.ones(8, np.float32), "en", limit=5) == []
