"""Lists of neighbouring chunks: FAISS proposes what exact search finds, and what does not fit is passed over."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ctxcli.index.embedded import EmbeddedReader
from ctxcli.index.neighbours import FILE, Neighbours, open_neighbours
from ctxcli.index.neighbours_writer import bring, former
from ctxcli.index.vectors import DIGEST_BYTES, VectorFile
from ctxcli.index.vectors import FILE as VECTORS
from ctxcli.index.vectors import Header as VectorHeader
from ctxcli.index.vectors_writer import VectorStore
from ctxcli.model.errors import DataError
from ctxcli.retrieval.closeness import Scale
from ctxcli.services.embedding import embed
from ctxcli.storage.files import TEMPORARY
from tests.fake_embedder import HashEmbedder
from tests.unit.index.test_vectors import TEXTS, index, opened

WIDTH = 32
SCALES = {
    "zh-zh": Scale(0.05, 0.6, True), "zh-en": Scale(0.0, 0.4, True),
    "en-zh": Scale(0.0, 0.4, True), "en-en": Scale(0.1, 0.8, True),
}  # fmt: skip


def rows(count: int, *, seed: int = 1) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Vectors of length 1 around the means of topics."""
    draw = np.random.default_rng(seed)
    topics = np.random.default_rng(0).standard_normal((60, WIDTH))
    found = topics[draw.integers(0, 60, count)] + 0.7 * draw.standard_normal((count, WIDTH))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def vectors_of(folder: Path, held: "np.ndarray[tuple[int, int], np.dtype[np.float32]]", *, commit: str = "c1") -> None:
    """A file of vectors: documents of ten chunks, every third of which is Chinese."""
    store = VectorStore(folder, "m/1")
    chunks = []
    for row in held:
        digest = row.tobytes()[:DIGEST_BYTES]
        if not store.has(digest):
            store.add(digest, np.stack([row, row]))
        chunks.append((digest, 0 if row[0] > 0.1 else 1))
    documents = tuple((f"d{at}", f"s{at}", min(10, len(held) - at)) for at in range(0, len(held), 10))
    store.write(VectorHeader(commit, "m", "m/1", WIDTH, len(held), len(held), SCALES, documents), chunks)


def ranked(folder: Path, query: "np.ndarray[tuple[int], np.dtype[np.float32]]", **options: object) -> list[str]:
    vectors = VectorFile(folder / VECTORS)
    vectors.neighbours = open_neighbours(folder, vectors.header)
    return vectors.nearest(query, "en", limit=30, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("neighbours")
    vectors_of(folder, rows(6000))
    assert bring(folder, None, above=5999) == "made"
    return folder


def copy(place: Path, folder: Path, *names: str) -> Path:
    for name in names or (VECTORS, FILE):
        (folder / name).write_bytes((place / name).read_bytes())
    return folder


def test_what_is_found_is_what_exact_search_finds(place: Path, tmp_path: Path) -> None:
    exact = copy(place, tmp_path, VECTORS)
    shares = []
    for query in rows(40, seed=2):
        found, true = ranked(place, query), ranked(exact, query)
        shares.append(len(set(found) & set(true)) / len(true))
        assert [key for key in true if key in found] == [key for key in found if key in true]
    assert np.mean(shares) > 0.97


def test_only_some_of_the_rows_are_looked_at_and_both_languages_are_among_them(place: Path) -> None:
    vectors = VectorFile(place / VECTORS)
    neighbours = Neighbours(place / FILE)
    for language in (0, 1):
        found = neighbours.near(rows(1, seed=3)[0], [language], wanted=30)
        assert found is not None
        assert len(found) == 60
        assert set(vectors.languages[found]) == {language}
    both = neighbours.near(rows(1, seed=3)[0], [0, 1], wanted=30)
    assert both is not None
    assert len(both) == 120


def test_every_row_is_in_one_list_of_its_language(place: Path) -> None:
    vectors, neighbours = VectorFile(place / VECTORS), Neighbours(place / FILE)
    lists = neighbours.list_of_rows()
    for language in (0, 1):
        first, end = neighbours.span(language)
        assert ((first <= lists) & (lists < end) == (vectors.languages == language)).all()
    assert neighbours.is_whole()


def test_among_chosen_documents_or_chunks_the_search_is_exact(place: Path, tmp_path: Path) -> None:
    exact = copy(place, tmp_path, VECTORS)
    query = rows(1, seed=4)[0]
    for docs in ({"d0", "d500"}, {f"d{at}" for at in range(0, 5000, 10)}):
        assert ranked(place, query, docs=docs) == ranked(exact, query, docs=docs) != []
    keys = ["d0:1", "d70:3", "d5990:9", "d880:0"]
    assert ranked(place, query, keys=keys) == ranked(exact, query, keys=keys)
    assert ranked(place, query, keys=keys, docs={"d70"}) == ranked(exact, query, keys=keys, docs={"d70"})


def test_the_same_vectors_give_the_same_file(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path, VECTORS)
    assert bring(tmp_path, None, above=0) == "made"
    assert (tmp_path / FILE).read_bytes() == (place / FILE).read_bytes()
    assert bring(tmp_path, None, above=0) == "kept"


def test_up_to_the_limit_there_are_none(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    assert bring(tmp_path, former(tmp_path), above=6000) == "not needed"
    assert not (tmp_path / FILE).exists()


def test_new_chunks_are_put_into_the_lists_that_are_there(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    before = former(tmp_path)
    held = np.concatenate([rows(200, seed=9), rows(6000)[500:]])
    vectors_of(tmp_path, held, commit="c2")
    assert bring(tmp_path, before, above=100) == "made"
    old, new = Neighbours(place / FILE), Neighbours(tmp_path / FILE)
    assert (old.centroids == new.centroids).all()
    assert (old.list_of_rows()[500:] == new.list_of_rows()[200:]).all()
    exact = tmp_path / "exact"
    exact.mkdir()
    copy(tmp_path, exact, VECTORS)
    shares = [
        len(set(ranked(tmp_path, query)) & set(ranked(exact, query))) / 30
        for query in np.concatenate([rows(20, seed=2), held[:20]])
    ]
    assert np.mean(shares) > 0.97
    assert ranked(tmp_path, held[3])[0] == "d0:3"


def test_lists_are_made_anew_when_there_are_twice_as_many_chunks(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    before = former(tmp_path)
    vectors_of(tmp_path, rows(13000), commit="c2")
    assert bring(tmp_path, before, above=100) == "made"
    assert Neighbours(tmp_path / FILE).header.lists > Neighbours(place / FILE).header.lists


def test_lists_of_other_vectors_are_passed_over(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    for commit, held in (("c2", rows(6000)), ("c1", rows(6000, seed=5)), ("c1", rows(5990))):
        vectors_of(tmp_path, held, commit=commit)
        assert open_neighbours(tmp_path, VectorFile(tmp_path / VECTORS).header) is None
        assert len(ranked(tmp_path, rows(1)[0])) == 30
        assert former(tmp_path) is None


@pytest.mark.parametrize("at", [-1, -9, -40, -500, -200_000])
@pytest.mark.parametrize("cut", [False, True])
def test_a_damaged_file_is_passed_over_and_made_anew(place: Path, tmp_path: Path, at: int, cut: bool) -> None:
    copy(place, tmp_path)
    query = rows(1, seed=6)[0]
    true = ranked(copy(place, tmp_path, VECTORS), query)
    data = bytearray((place / FILE).read_bytes())
    if cut:
        del data[at:]
    else:
        data[at] ^= 0xFF
    (tmp_path / FILE).write_bytes(data)
    if cut or at != -200_000:  # which is in the lists: those are read through when an index run looks at them
        with pytest.raises(DataError, match="damaged"):
            Neighbours(tmp_path / FILE)
    assert ranked(tmp_path, query) == true
    assert bring(tmp_path, former(tmp_path), above=0) == "made"
    assert Neighbours(tmp_path / FILE).is_whole()


def test_lists_that_name_rows_there_are_none_of_are_passed_over(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    neighbours, data = Neighbours(place / FILE), bytearray((place / FILE).read_bytes())
    for start, end in neighbours._spans():
        data[start:end] = b"\xff" * 7 + b"\x7f" if end - start == 8 else bytes([0x7F]) * (end - start)
    (tmp_path / FILE).write_bytes(data)
    query = rows(1, seed=6)[0]
    assert Neighbours(tmp_path / FILE).near(query, [0, 1], wanted=30) is None
    assert ranked(tmp_path, query) == ranked(copy(place, tmp_path, VECTORS), query)


def test_an_open_file_is_read_on_when_another_takes_its_place(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    neighbours, query = Neighbours(tmp_path / FILE), rows(1, seed=7)[0]
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "other").replace(tmp_path / FILE)
    found, true = (one.near(query, [1], wanted=30) for one in (neighbours, Neighbours(place / FILE)))
    assert found is not None
    assert true is not None
    assert found.tolist() == true.tolist()


WITHOUT = """
import json, sys
sys.modules["faiss"] = None
from pathlib import Path
import numpy as np
from ctxcli.index.neighbours import open_neighbours
from ctxcli.index.neighbours_writer import bring
from ctxcli.index.vectors import FILE, VectorFile
folder = Path(sys.argv[1])
vectors = VectorFile(folder / FILE)
vectors.neighbours = open_neighbours(folder, vectors.header)
query = np.array(json.loads(sys.argv[2]), dtype=np.float32)
found = vectors.nearest(query, "en", limit=30)
print(json.dumps([found, *(bring(folder, None, above=limit) for limit in (10, 9999))]))
"""


def test_without_faiss_search_is_exact(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path)
    query = rows(1, seed=8)[0]
    line = [sys.executable, "-c", WITHOUT, str(tmp_path), json.dumps(query.tolist())]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    found, above, below = json.loads(done.stdout)
    assert found == ranked(copy(place, tmp_path, VECTORS), query)
    assert (above, below) == ("no faiss", "not needed")
    assert not (tmp_path / FILE).exists()


AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from ctxcli.index.neighbours_writer import FILE, bring
folder = Path(sys.argv[1])
while True:
    bring(folder, None, above=0)
    (folder / FILE).unlink()
"""


def test_a_killed_run_leaves_nothing_that_is_half(place: Path, tmp_path: Path) -> None:
    copy(place, tmp_path, VECTORS)
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", AGAIN_AND_AGAIN, str(tmp_path)])
        end = time.monotonic() + 60
        while not list(tmp_path.glob(f"{TEMPORARY}*")) and time.monotonic() < end:
            time.sleep(0.001)
        process.kill()
        process.wait()
        assert not (tmp_path / FILE).exists() or Neighbours(tmp_path / FILE).is_whole()
    assert len(ranked(tmp_path, rows(1)[0])) == 30
    assert bring(tmp_path, former(tmp_path), above=0) in ("made", "kept")
    assert (tmp_path / FILE).read_bytes() == (place / FILE).read_bytes()


def test_an_index_of_a_few_chunks_in_two_languages_has_lists_too(tmp_path: Path) -> None:
    reader, model = index(tmp_path, TEXTS), HashEmbedder()
    embed(tmp_path, reader, model)
    query = model.embed(["水泵"], role="query")[0]
    true = opened(tmp_path, reader).nearest(query, "zh", limit=9)
    assert bring(tmp_path, None, above=0) == "made"
    vectors = opened(tmp_path, reader)
    assert vectors.neighbours is not None
    assert vectors.nearest(query, "zh", limit=9) == true


def test_an_index_without_chunks_has_no_lists(tmp_path: Path) -> None:
    reader: EmbeddedReader = index(tmp_path, {"docs/a.py": ""})
    embed(tmp_path, reader, HashEmbedder())
    assert bring(tmp_path, None, above=0) == "not needed"
