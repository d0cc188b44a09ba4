"""What the decision looks at."""

import pytest

from ctxcli.answering import decision
from ctxcli.answering.evidence import would_show
from ctxcli.services.answering import consider
from tests.unit.retrieval.made import knowledge

ENGLISH = ("# Pump\n\nThe pump starts at six.\n", "# Valve\n\nThe valve closes at night.\n", "# Roses\n\nThey grow.\n")
CHINESE = ("# 水泵\n\n水泵六点启动。\n", "# 阀门\n\n阀门夜间关闭。\n", "# 玫瑰\n\n玫瑰生长。\n")


@pytest.mark.parametrize(
    ("texts", "question"), [(ENGLISH, "starts pump closes valve night six"), (CHINESE, "水泵六点启动阀门夜间关闭")]
)
def test_two_chunks_and_what_would_be_shown_are_looked_at_together(texts: tuple[str, ...], question: str) -> None:
    base = knowledge(*texts)
    thought = consider(base, question)
    values = base.ranker.values(thought.question, thought.weights, thought.decided)
    both, alone = (
        decision.decision_features(
            thought.question, thought.weights, found, worth, would_show(thought.question, found, worth)
        )
        for found, worth in ((thought.decided, values), (thought.decided[:1], values[:1]))
    )
    assert len(thought.windows) == 2
    assert both["two"] > alone["two"]
    assert both["shown"] > alone["shown"]
    assert all(0 <= both[name] <= 1 for name in both.keys() - {"terms"})
