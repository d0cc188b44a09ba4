"""What a request to index paths comes to: roots, and the part of them to look at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ctxcli.services.ingest.look import Places, look
from ctxcli.services.workspace import Workspace, checked_path
from ctxcli.storage.manifest import Root
from ctxcli.storage.walk import is_below


@dataclass(frozen=True, slots=True)
class Target:
    """The roots afterwards, the part of them to look at (empty: all), and the paths named, as cited."""

    roots: tuple[Root, ...]
    scope: tuple[str, ...]
    named: tuple[str, ...]


def target_of(
    workspace: Workspace,
    roots: Sequence[Root],
    paths: Sequence[Path],
    *,
    candidate: Callable[[str], bool],
    include: tuple[str, ...] | None,
    exclude: tuple[str, ...] | None,
) -> Target:
    """Take `paths` into the roots.

    What an existing root takes in anyway becomes no root of its own. A path that a root passes over (it is hidden,
    ignored or of an unknown kind) does: whoever names a file wants it.
    """
    found = {root.path: root for root in roots}
    if not paths:
        return Target(tuple(_with_patterns(root, include, exclude) for root in roots), (), ())
    named = []
    for path in paths:
        cited = workspace.cite(checked_path(path))
        named.append(cited)
        patterned = include is not None or exclude is not None
        if cited in found or patterned or not _is_taken(workspace, tuple(found.values()), cited, candidate):
            found[cited] = _with_patterns(found.get(cited, Root(cited)), include, exclude)
    return Target(tuple(found.values()), tuple(named) if roots else (), tuple(named))


def _is_taken(workspace: Workspace, roots: tuple[Root, ...], cited: str, candidate: Callable[[str], bool]) -> bool:
    """Whether a walk of the roots comes upon `cited`, or upon anything below it."""
    above = tuple(root for root in roots if is_below(cited, root.path))
    return bool(above) and bool(look(Places(workspace.root, above, candidate, (cited,))).found)


def _with_patterns(root: Root, include: tuple[str, ...] | None, exclude: tuple[str, ...] | None) -> Root:
    if include is not None:
        root = replace(root, include=include)
    return root if exclude is None else replace(root, exclude=exclude)
