"""The JSON documents of answers and hits, as `ctx schema` describes them."""

from typing import Any

from ctxcli.model.answer import Answer, Hits, Passage

_PLACE = ("section", "heading", "heading_path", "page", "page_end", "page_label", "line_start", "line_end")


def answer_document(answer: Answer, *, with_evidence: bool = False) -> dict[str, Any]:
    """`ctx/answer/1`; `with_evidence` adds the candidate and the ranked chunks."""
    document: dict[str, Any] = {
        "schema": "ctx/answer/1",
        "question": answer.question,
        "declined": answer.declined,
        "reason": answer.reason,
        "answer": answer.text,
        "method": answer.method,
        "score": answer.score,
        "threshold": answer.threshold,
        "citations": [citation_document(n, passage) for n, passage in enumerate(answer.citations, 1)],
        "nearest": [_nearest(passage) for passage in answer.nearest],
        "elapsed_ms": answer.elapsed_ms,
    }
    if answer.usage:
        document["model"] = answer.model
        document["usage"] = answer.usage.document()
        document["removed_citations"] = answer.removed_citations
    if with_evidence:
        document["candidate"] = answer.candidate
        document["evidence"] = [
            {"rank": rank, **_cited(passage), "text": passage.text} for rank, passage in enumerate(answer.evidence, 1)
        ]
    return document


def citation_document(n: int, passage: Passage) -> dict[str, Any]:
    """One citation of an answer."""
    document = {"n": n, **_cited(passage)}
    if passage.stale:
        document["stale"] = True
    if passage.conflict:
        document["conflict"] = True
    return document


def hits_document(hits: Hits) -> dict[str, Any]:
    """`ctx/hits/1`."""
    return {
        "schema": "ctx/hits/1",
        "query": hits.query,
        "hits": [{"rank": rank, **_cited(hit), "text": hit.text} for rank, hit in enumerate(hits.passages, 1)],
    }


def _place(passage: Passage) -> dict[str, Any]:
    place = {name: getattr(passage, name) for name in _PLACE}
    return {**place, "heading_path": list(passage.heading_path)}


def _cited(passage: Passage) -> dict[str, Any]:
    return {
        "kb": passage.kb,
        "doc": passage.doc,
        "title": passage.title,
        **_place(passage),
        "quote": passage.quote,
        "chunk_id": passage.chunk_id,
        "score": passage.score,
        "doc_sha256": passage.doc_sha256,
    }


def _nearest(passage: Passage) -> dict[str, Any]:
    return {
        "kb": passage.kb,
        "doc": passage.doc,
        "title": passage.title,
        **_place(passage),
        "score": passage.score,
    }
