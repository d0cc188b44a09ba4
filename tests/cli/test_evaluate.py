"""`ctx kb eval`, `ctx kb calibrate` and `ctx kb explain` as processes."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ctxcli.model.calibration import ScoreScale
from tests.cli.run import ctx, fed, write

PUMP = "When does the irrigation pump start?"
QUESTIONS = [
    {"id": "a", "question": PUMP, "answers": ["at six"], "doc": "manual.md", "section": "6.4"},
    {"id": "b", "question": "大风时天窗怎样？", "answers": ["天窗关闭"], "doc": "docs/规程.md", "section": "第七条"},
    {"id": "c", "question": "Who wrote Hamlet?", "answerable": False},
    {"id": "d", "question": "谁写了红楼梦？", "answerable": False},
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    manual = "# Manual\n\n## 6.3 Vents\n\nVents open when it is warm.\n\n## 6.4 Pumps\n\n"
    write(folder, "docs/manual.md", manual + "The irrigation pump starts at six in the morning.\n")
    write(folder, "docs/规程.md", "# 规程\n\n## 第七条 大风\n\n大风时天窗关闭。\n")
    for n, word in enumerate("alpha beta gamma delta epsilon zeta eta theta".split()):
        write(
            folder, f"docs/{word}.md", f"# {word}\n\nThe {word} machine {n} has a special {word} purpose in hall {n}.\n"
        )
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    write(folder, "q.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS))
    return folder


def test_eval_prints_figures_a_chart_and_a_drawing(place: Path) -> None:
    done = ctx(place, "kb", "eval", "q.jsonl", "--json", "--plot", "plot.svg")
    assert done.code == 0
    assert (done.json["schema"], done.json["questions"]) == ("ctx/evaluation/1", 4)
    figures = done.json["figures"]
    assert (figures["doc_hit@1"], figures["place_hit@1"], figures["answer"], figures["auroc"]) == (1, 1, 1, 1)
    assert (figures["false_answers"], figures["false_declines"]) == (0, 0)
    svg = ElementTree.parse(place / "plot.svg").getroot()
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    line = svg.find("{http://www.w3.org/2000/svg}polyline")
    assert line is not None
    points = (line.get("points") or "").split()
    assert len(points) == len(done.json["risk_coverage"])
    marks = [f"{one.get('cx')},{one.get('cy')}" for one in svg.iter("{http://www.w3.org/2000/svg}circle")]
    assert len([mark for mark in marks if mark in points]) == 2
    assert "threshold 0.40" in [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    text = ctx(place, "kb", "eval", "q.jsonl").out
    assert "place_hit@1" in text
    assert "risk: share of wrong answers" in text
    assert ctx(place, "kb", "eval", "q.jsonl", "-q").out == ""


def test_eval_suggests_a_threshold_as_a_number_alone(place: Path) -> None:
    done = ctx(place, "kb", "eval", "q.jsonl", "--suggest-threshold")
    assert done.code == 0
    assert 0 < float(done.out) < 1
    assert ctx(place, "kb", "eval", "q.jsonl", "--threshold", "0.9", "--suggest-threshold").out == done.out
    write(place, "one.jsonl", json.dumps(QUESTIONS[0]))
    none = ctx(place, "kb", "eval", "one.jsonl", "--suggest-threshold", "--json")
    assert none.json["suggested_threshold"] is None
    assert ctx(place, "kb", "eval", "one.jsonl", "--suggest-threshold").code == 2


def test_eval_says_how_many_questions_tell_nothing(place: Path) -> None:
    write(place, "bare.jsonl", json.dumps({"question": PUMP}) + "\n" + json.dumps({"question": "大风时天窗怎样？"}))
    done = ctx(place, "kb", "eval", "bare.jsonl", "--json")
    assert (done.json["figures"]["answer"], done.json["untold"], done.json["risk_coverage"]) == (None, 2, [])
    assert [one["right"] for one in done.json["outcomes"]] == [None, None]
    text = ctx(place, "kb", "eval", "bare.jsonl", "--plot", "plot.svg")
    assert (text.code, "2 with neither answer nor place known" in text.out) == (0, True)
    assert "with neither" not in ctx(place, "kb", "eval", "q.jsonl").out


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["eval", "nowhere.jsonl"], 3, "file_not_found"),
        (["eval", "docs/manual.md"], 5, "bad_questions"),
        (["eval", "q.jsonl", "--kb", "nope"], 3, "kb_not_found"),
        (["eval", "q.jsonl", "--plot", "no/such/plot.svg"], 5, "unwritable"),
        (["eval"], 2, "usage"),
        (["calibrate", "nowhere.jsonl"], 3, "file_not_found"),
        (["calibrate", "--kb", "nope"], 3, "kb_not_found"),
        (["calibrate", "--kb", "../x"], 2, "bad_kb_name"),
        (["calibrate", "--kb", "_notes"], 3, "kb_not_found"),
        (["explain", "pump", "--expect", "#6.4"], 2, "usage"),
    ],
)
def test_mistakes_are_told(place: Path, arguments: list[str], code: int, name: str) -> None:
    done = ctx(place, "kb", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, name)


def test_a_fitted_threshold_is_kept_used_and_forgotten(place: Path) -> None:
    kept = place / ".ctx/kb/default/calibration.json"

    def threshold(*more: str, **environment: str) -> float:
        return float(ctx(place, "ask", PUMP, "--json", *more, **environment).json["threshold"])

    default = threshold()
    fitted = float(ctx(place, "kb", "calibrate", "q.jsonl", "--dry-run").out)
    assert fitted != default
    assert not kept.exists()
    done = ctx(place, "kb", "calibrate", "q.jsonl", "--json")
    shown, scale = done.json, done.json["scale"]
    assert (shown["schema"], shown["kb"], shown["threshold"]) == ("ctx/calibration/1", "default", fitted)
    assert (shown["questions"], shown["brier"]["after"] < shown["brier"]["before"]) == (4, True)
    held = {"threshold": fitted, "questions": 4, "made_questions": False, "scales": {"bm25": scale}}
    assert json.loads(kept.read_text("utf-8")) == held
    assert threshold() == fitted
    assert threshold("--threshold", "0.2") == 0.2
    assert threshold(CTX_ASK_THRESHOLD="0.3") == 0.3
    assert ctx(place, "config", "set", "ask.threshold", "0.35").code == 0
    assert threshold() == 0.35
    (place / ".ctx/config.toml").unlink()
    assert ctx(place, "kb", "index", "--rebuild", "-q").code == 0
    assert threshold() == fitted, "an index that is built anew keeps it"
    assert float(ctx(place, "kb", "calibrate", "--reset").out) == default
    assert not kept.exists()
    assert threshold() == default
    assert ctx(place, "kb", "calibrate", "--reset").code == 0


def asked(folder: Path, *more: str) -> tuple[float, float]:
    """Score and threshold of a question."""
    found = ctx(folder, "ask", PUMP, "--json", *more).json
    return found["score"], found["threshold"]


def test_scores_are_shown_on_the_scale_of_the_knowledge_base(place: Path) -> None:
    kept = ".ctx/kb/default/calibration.json"
    plain, _ = asked(place)
    scale = ScoreScale(-1.5, 0.6)
    write(place, kept, json.dumps({"threshold": 0.3, "scales": {"bm25": {"shift": -1.5, "slope": 0.6}}}))
    assert asked(place) == (pytest.approx(scale.of(plain), abs=0.001), 0.3)
    assert f"score {scale.of(plain):.2f}, threshold 0.30" in ctx(place, "kb", "explain", PUMP).out
    assert ctx(place, "ask", PUMP, "--threshold", "0.9").code == 4, "a threshold is one of the scores that are shown"
    assert ctx(place, "kb", "eval", "q.jsonl", "--json").json["outcomes"][0]["score"] == asked(place)[0]
    write(place, kept, json.dumps({"threshold": 0.3}))
    assert asked(place) == (plain, 0.3), "one that was fitted without a scale stays valid"
    write(place, kept, json.dumps({"threshold": 0.3, "scales": {"hybrid": {"shift": -1.5, "slope": 0.6}}}))
    assert asked(place) == (plain, 0.3), "that of another way of ranking is not its own"


def test_calibrating_again_starts_from_the_scores_as_they_are(place: Path) -> None:
    first = ctx(place, "kb", "calibrate", "q.jsonl", "--json").json
    assert ctx(place, "kb", "calibrate", "q.jsonl", "--json").json == first
    shown = ctx(place, "kb", "calibrate", "q.jsonl")
    assert "on a scale (shift " in shown.err
    assert "Brier score" in shown.err
    assert shown.out == f"{first['threshold']}\n"
    made = ctx(place, "kb", "calibrate", "--json").json
    assert (made["scale"], made["brier"]) == (None, None)
    assert "scales" not in json.loads((place / ".ctx/kb/default/calibration.json").read_text("utf-8"))
    back = ctx(place, "kb", "calibrate", "--reset", "--json").json
    assert (back["threshold"], back["scale"], back["brier"]) == (0.4, None, None)
    for more in (["q.jsonl"], ["--dry-run"], ["--mode", "bm25"]):
        assert ctx(place, "kb", "calibrate", "--reset", *more).code == 2


def test_of_several_knowledge_bases_the_strictest_counts_with_its_scale(place: Path) -> None:
    write(place, "other/a.md", "# Other\n\nNothing about it.\n")
    assert ctx(place, "kb", "index", "other", "--kb", "other", "-q").code == 0
    plain, default = asked(place)
    assert default == 0.4
    write(place, ".ctx/kb/default/calibration.json", '{"threshold": 0.5}')
    harsh = '{"threshold": 0.2, "scales": {"bm25": {"shift": -4, "slope": 1}}}'
    write(place, ".ctx/kb/other/calibration.json", harsh)
    assert asked(place) == (pytest.approx(ScoreScale(-4, 1).of(plain), abs=0.001), 0.2)
    write(place, ".ctx/kb/other/calibration.json", harsh.replace("-4", "4"))
    assert asked(place) == (plain, 0.5)
    assert asked(place, "--kb", "other")[1] == 0.2
    (place / ".ctx/kb/default/calibration.json").unlink()
    assert asked(place) == (plain, 0.4), "one without a fit has the default"
    write(place, "notes/n.md", "---\ntitle: Note\n---\nA note.\n")
    assert asked(place, "--kb", "other", "--notes")[1] == 0.2, "notes follow the rest"


@pytest.mark.parametrize(
    "content",
    [
        '{"threshold": 0.3, "scales": []}',
        '{"threshold": 0.3, "scales": {"bm25": 7}}',
        '{"threshold": 0.3, "scales": {"bm25": {"shift": 0}}}',
        '{"threshold": 0.3, "scales": {"bm25": {"shift": 0, "slope": 0}}}',
        '{"threshold": 0.3, "scales": {"bm25": {"shift": 0, "slope": -1}}}',
        '{"threshold": 0.3, "scales": {"bm25": {"shift": NaN, "slope": 1}}}',
        '{"threshold": 0.3, "scales": {"bm25": {"shift": 0, "slope": Infinity}}}',
    ],
)
def test_a_threshold_whose_scale_cannot_be_read_is_not_used(place: Path, content: str) -> None:
    plain = asked(place)
    write(place, ".ctx/kb/default/calibration.json", content)
    assert asked(place) == plain


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"threshold": "x"}', '{"threshold": 7}', '{"threshold": NaN}'])
def test_a_threshold_that_cannot_be_read_is_the_default(place: Path, content: str) -> None:
    write(place, ".ctx/kb/default/calibration.json", content)
    assert ctx(place, "ask", PUMP, "--json").json["threshold"] == 0.4


def test_without_questions_some_are_made(place: Path) -> None:
    done = ctx(place, "kb", "calibrate")
    assert done.code == 0
    assert 0.05 <= float(done.out) <= 0.95
    assert "made questions" in done.err
    assert json.loads((place / ".ctx/kb/default/calibration.json").read_text("utf-8"))["made_questions"] is True
    assert ctx(place, "kb", "calibrate").out == done.out


def test_too_few_documents_to_make_questions_of_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write(folder, "docs/a.md", "# A\n\nThe irrigation pump starts at six in the morning, every day.\n")
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    done = ctx(folder, "kb", "calibrate", "--json")
    assert (done.code, done.json["error"]["code"]) == (5, "too_few_questions")


def test_explain_tells_verdict_terms_and_the_stage(place: Path) -> None:
    done = ctx(place, "kb", "explain", PUMP, "--expect", "manual.md#6.3", "--json")
    assert done.json["schema"] == "ctx/explanation/1"
    assert done.json["expected"]["stage"] == "not_matched"
    text = ctx(place, "kb", "explain", PUMP, "--expect", "manual.md#6.4").out
    assert text.startswith("answered: score ")
    assert "expected docs/manual.md#6.4: shown, rank 1" in text
    assert "irrig" in text
    assert "declined: score 0.00" in ctx(place, "kb", "explain", "zebra").out
    assert "declined: score 0.00" in fed(place, "zebra\n", "kb", "explain", "-").out
    assert ctx(place, "kb", "explain", " ").code == 2
    chinese = ctx(place, "kb", "explain", "大风时天窗怎样？", "--expect", "规程.md#第八条").out
    assert "not chunked" in chinese
