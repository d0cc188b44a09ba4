"""Notes and knowledge bases: cited answers or an honest refusal, offline, in Chinese and English."""

TYPE_CHECKING = False  # as in typing, which costs a cold start more than all else here
if TYPE_CHECKING:
    from ctxcli.services.note_tool import NoteTool as NoteTool

__version__ = "0.1.0"
__all__ = ["NoteTool", "__version__"]

_EXPORTED = {"NoteTool": "ctxcli.services.note_tool"}
"""Names of the package and the modules that hold them; each is imported when it is used."""


def __getattr__(name: str) -> object:
    if name in _EXPORTED:
        from importlib import import_module

        return getattr(import_module(_EXPORTED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
