"""Small knowledge in memory."""

from ctxcli.index.memory import MemoryIndex
from ctxcli.services.answering import Knowledge
from ctxcli.text.analyzer import Analyzer
from tests.unit.index.made import made

ANALYZER = Analyzer()


def index(*texts: str) -> MemoryIndex:
    """Each text is a Markdown file ``docs/N.md``."""
    return MemoryIndex([made(f"docs/{number}.md", text) for number, text in enumerate(texts)])


def knowledge(*texts: str) -> Knowledge:
    """The same, ready to be asked."""
    return Knowledge({"default": index(*texts)}, analyzer=ANALYZER)
