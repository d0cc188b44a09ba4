"""What holds for vectors after any sequence of changes to their index."""

import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.index.embedded import EmbeddedReader, open_writer
from ctxcli.index.neighbours_writer import bring, former
from ctxcli.index.vectors import VectorFile, open_vectors
from ctxcli.model.errors import ServiceError
from ctxcli.services.answering import Knowledge, ask
from ctxcli.services.embedding import embed
from ctxcli.services.meaning import MeaningRanker, Source
from tests.fake_embedder import HashEmbedder
from tests.properties.test_index import ANALYZER, CHANGES, QUESTIONS, Files, change
from tests.unit.index.made import SETTINGS

MODELS = [HashEmbedder(), HashEmbedder("other", width=5)]


def rows(vectors: VectorFile, reader: EmbeddedReader) -> dict[str, tuple[bytes, bytes]]:
    """The vectors of each chunk of the index."""
    assert vectors.header.chunks == reader.stats["chunks"]
    found = {chunk.key: vectors._row(chunk.key) for chunk in reader.all_chunks()}
    return {key: (vectors.rows[row].tobytes(), vectors.unit_rows(row).tobytes()) for key, row in found.items()}


@given(
    changes=st.lists(
        st.tuples(CHANGES, st.sampled_from(["embed", "fail", "not"]), st.sampled_from(MODELS)), max_size=12
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_vectors_made_bit_by_bit_are_those_made_at_once(
    changes: list[tuple[tuple[str, str, str], str, HashEmbedder]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, files = Path(place), Files()
        for step, then, model in changes:
            writer = open_writer(folder / "index", SETTINGS)
            change(writer, files, *step)
            writer.commit(["docs"])
            reader = EmbeddedReader(folder / "index")
            before = former(folder)
            if then == "embed":
                embed(folder, reader, model)
                bring(folder, before, above=0)
            elif then == "fail":
                with suppress(ServiceError):
                    embed(folder, reader, HashEmbedder(model.name, width=model._width, most=60))
        writer = open_writer(folder / "index", SETTINGS)
        writer.commit(["docs"])
        reader, before = EmbeddedReader(folder / "index"), former(folder)
        embed(folder, reader, MODELS[0])
        bring(folder, before, above=0)
        whole = folder / "whole"
        whole.mkdir()
        embed(whole, reader, MODELS[0])
        commit = reader.stats["commit"]
        bit_by_bit, at_once = (open_vectors(one, commit=commit, name="x") for one in (folder, whole))
        assert rows(bit_by_bit, reader) == rows(at_once, reader)
        assert not (folder / "vectors.part").exists()
        assert (bit_by_bit.neighbours is not None) == (bit_by_bit.header.chunks > 0)
        if bit_by_bit.neighbours:
            assert (bit_by_bit.neighbours.list_of_rows() >= 0).all()
            assert bit_by_bit.neighbours.is_whole()
        seen = []
        for vectors in (bit_by_bit, at_once):
            ranker = MeaningRanker({"default": Source(vectors, MODELS[0])}, by="scores")
            knowledge = Knowledge({"default": reader}, analyzer=ANALYZER, ranker=ranker)
            answers = [ask(knowledge, question, with_evidence=True) for question in QUESTIONS]
            seen.append([(one.text, one.score, one.evidence) for one in answers])
        assert seen[0] == seen[1]
