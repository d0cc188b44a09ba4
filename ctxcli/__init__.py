"""Notes and knowledge bases: cited answers or an honest refusal, offline, in Chinese and English."""

TYPE_CHECKING = False  # as in typing, which costs a cold start more than all else here
if TYPE_CHECKING:
    from ctxcli.model.context import Context as Context
    from ctxcli.model.context import ContextPacket as ContextPacket
    from ctxcli.packing.builder import ContextConfig as ContextConfig
    from ctxcli.packing.memory import FullHistory as FullHistory
    from ctxcli.packing.memory import HierarchicalMemory as HierarchicalMemory
    from ctxcli.packing.memory import SlidingWindow as SlidingWindow
    from ctxcli.packing.memory import StructuredMemory as StructuredMemory
    from ctxcli.packing.memory import SummaryMemory as SummaryMemory
    from ctxcli.packing.memory import WeightedMemory as WeightedMemory
    from ctxcli.packing.tool_result import render_tool_result as render_tool_result
    from ctxcli.services.context import ContextBuilder as ContextBuilder
    from ctxcli.services.note_tool import NoteTool as NoteTool
    from ctxcli.text.tokens import TokenCounter as TokenCounter

__version__ = "0.1.0"

_EXPORTED = {
    "Context": "ctxcli.model.context",
    "ContextBuilder": "ctxcli.services.context",
    "ContextConfig": "ctxcli.packing.builder",
    "ContextPacket": "ctxcli.model.context",
    "FullHistory": "ctxcli.packing.memory",
    "HierarchicalMemory": "ctxcli.packing.memory",
    "NoteTool": "ctxcli.services.note_tool",
    "SlidingWindow": "ctxcli.packing.memory",
    "StructuredMemory": "ctxcli.packing.memory",
    "SummaryMemory": "ctxcli.packing.memory",
    "TokenCounter": "ctxcli.text.tokens",
    "WeightedMemory": "ctxcli.packing.memory",
    "render_tool_result": "ctxcli.packing.tool_result",
}
"""Names of the package and the modules that hold them; each is imported when it is used."""

__all__ = [*_EXPORTED, "__version__"]  # noqa: PLE0604 - names all


def __getattr__(name: str) -> object:
    if name in _EXPORTED:
        from importlib import import_module

        return getattr(import_module(_EXPORTED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
