"""The vectors of an index run: which model makes them, and whether it may see the documents."""

from pathlib import Path

from ctxcli.model.extras import install
from ctxcli.model.report import EmbeddingRun, Notice
from ctxcli.services.ingest.run import Progress, Watcher
from ctxcli.services.workspace import Workspace
from ctxcli.settings import allow, is_allowed
from ctxcli.storage.manifest import NEIGHBOURS, VECTORS, VECTORS_PART, Manifest, check_places


def chosen_model(workspace: Workspace, kb: str, asked: str | None, current: Manifest | None) -> str:
    """The name of the embedding model from now on, "" for none; one that is named now must be there."""
    if asked is None:
        return current.embed if current else ""
    if asked == "none":
        return ""
    from ctxcli.services import models

    kind, colon, place = asked.partition(":")
    is_folder = bool(place) and kind in models.FROM_FOLDERS and Path(place).expanduser().is_dir()
    name = f"{kind}{colon}{workspace.cite(Path(place).expanduser())}" if is_folder else asked
    found = models.embedder(workspace.settings, name, root=workspace.root)
    if not found.is_local:
        allow(workspace.root, f"embed {kb}", name)
    return name


def embed(
    workspace: Workspace, made: Manifest, watch: Watcher, notices: list[Notice], *, anew: bool = False
) -> EmbeddingRun | None:
    """Bring the vectors to the index, or remove them where no model is chosen.

    With `anew` the lists of neighbours, which very many chunks have, do not go on from those before. Nothing is sent
    away that the user has not asked for: a stranger's manifest may name a service too.
    """
    folder = workspace.kb_folder(made.name)
    check_places(folder)
    if not made.embed:
        for name in (VECTORS, VECTORS_PART, NEIGHBOURS):
            (folder / name).unlink(missing_ok=True)
        return None
    from ctxcli.index import neighbours_writer
    from ctxcli.services import embedding, models

    embedder = models.embedder(workspace.settings, made.embed, root=workspace.root)
    if not embedder.is_local and not is_allowed(workspace.root, f"embed {made.name}", made.embed):
        why = f"{made.embed} is not on this machine and was not asked for by you: nothing is sent"
        notices.append(Notice("not_sent", f"{why}; if you want it: ctx kb index --embed {made.embed}"))
        return None
    before = None if anew else neighbours_writer.former(folder)
    run = embedding.embed(
        folder,
        workspace.reader(made.name),
        embedder,
        watch=lambda done, total: watch(Progress(done, total, 0, 0, "", "chunks")),
    )
    notices += _unknown_languages(run)
    above = workspace.settings.integer("embed.exact_up_to")
    if neighbours_writer.bring(folder, before, above=above) == "no faiss":
        why = f"with more than {above:,} chunks each question is compared with all of them"
        notices.append(Notice("no_faiss", f"{why}; faster: {install('faiss')}"))
    return run


def _unknown_languages(run: EmbeddingRun) -> list[Notice]:
    names = {"zh": "Chinese", "en": "English"}
    return [
        Notice("model_language", f"{run.model} does not understand {names[one]}: such chunks are found by words only")
        for one in run.unknown_languages
    ]


def model_of(folder: Path) -> str:
    """The model that the vectors there were made by, "" where there are none."""
    if not (folder / VECTORS).exists():
        return ""
    from ctxcli.index.vectors import header_of

    header = header_of(folder)
    return header.model if header else ""
