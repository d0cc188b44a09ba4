"""Knowledge bases made, brought up to date and removed, with the real engine."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.model.errors import DataError, NotFoundError, UsageError
from ctxcli.model.report import IndexReport
from ctxcli.services import indexing, knowledge, workspace
from ctxcli.services.indexing import IndexRequest
from ctxcli.services.workspace import Workspace
from ctxcli.settings import assign
from ctxcli.storage import manifest
from tests.unit.services.fakes import same_files


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = tmp_path / "w"
    write(root, "docs/a.md", "# Alpha\n\nabout apples\n")
    write(root, "docs/sub/b.md", "# 乙\n\n关于苹果\n")
    workspace.make(root)
    return workspace.find(root)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def index(place: Workspace, *names: str, **options: object) -> IndexReport:
    paths = tuple(place.root / name for name in names)
    return indexing.index(Workspace(place.root, {}), IndexRequest(paths=paths, **options))  # type: ignore[arg-type]


def paths(place: Workspace, kb: str = "default") -> list[str]:
    return [one.path for one in knowledge.files(place, kb).files]


def roots(place: Workspace) -> list[str]:
    return [root.path for root in place.manifest("default").roots]


def test_a_folder_is_indexed_and_cited_from_the_workspace(place: Workspace) -> None:
    report = index(place, "docs")
    assert (report.root, report.files.indexed, report.chunks) == ("docs", 2, 2)
    assert paths(place) == ["docs/a.md", "docs/sub/b.md"]


def test_without_paths_all_roots_are_brought_up_to_date(place: Workspace) -> None:
    write(place.root, "more/c.md", "# C\n")
    index(place, "docs")
    index(place, "more")
    write(place.root, "docs/new.md", "# New\n")
    write(place.root, "more/new.md", "# New too\n")
    assert index(place).files.indexed == 2
    assert roots(place) == ["docs", "more"]


def test_a_path_inside_a_root_brings_that_part_up_to_date(place: Workspace) -> None:
    index(place, "docs")
    write(place.root, "docs/new.md", "# New\n")
    write(place.root, "docs/sub/new.md", "# New too\n")
    (place.root / "docs/a.md").unlink()
    report = index(place, "docs/sub")
    assert (report.files.indexed, report.files.removed) == (1, 0)
    assert roots(place) == ["docs"]
    assert "docs/a.md" in paths(place)
    assert index(place, "docs/new.md").files.indexed == 1
    assert roots(place) == ["docs"]


def test_a_hidden_file_that_is_named_is_taken_and_stays(place: Workspace) -> None:
    write(place.root, "docs/.secret.md", "# Hidden\n")
    index(place, "docs")
    index(place, "docs/.secret.md")
    index(place)
    assert "docs/.secret.md" in paths(place)


def test_a_root_around_another_counts_each_file_once(place: Workspace) -> None:
    index(place, "docs/sub")
    report = index(place, "docs")
    assert paths(place) == ["docs/a.md", "docs/sub/b.md"]
    assert report.files.indexed == 1
    assert index(place).files.unchanged == 2


def test_what_lies_below_two_roots_is_told_once(place: Workspace) -> None:
    write(place.root, "docs/sub/caf\u00e9 文.md", "# Composed\n")
    write(place.root, "docs/sub/cafe\u0301 文.md", "# Taken apart\n")
    if os.name == "posix":
        Path(os.fsdecode(os.fsencode(place.root / "docs/sub") + b"/\xb9\xfe.md")).write_text(
            "# GBK\n", encoding="utf-8"
        )
    index(place, "docs/sub")
    report = index(place, "docs")
    assert roots(place) == ["docs/sub", "docs"]
    assert [warning.code for warning in report.warnings] == ["same_name"]
    assert report.files.failed == len(report.failures) == (os.name == "posix")


def test_patterns_are_remembered_with_their_root(place: Workspace) -> None:
    index(place, "docs", exclude=("sub/",))
    index(place)
    assert paths(place) == ["docs/a.md"]
    index(place, "docs", exclude=("a.md",))
    assert paths(place) == ["docs/sub/b.md"]


def test_a_document_outside_is_cited_by_its_whole_path(place: Workspace, tmp_path: Path) -> None:
    write(tmp_path, "outside/x.md", "# X\n")
    indexing.index(place, IndexRequest(paths=(tmp_path / "outside",)))
    assert paths(place) == [(tmp_path / "outside/x.md").as_posix()]
    (tmp_path / "outside/x.md").unlink()
    assert index(place).files.removed == 1


def test_a_root_that_is_missing_removes_nothing(place: Workspace) -> None:
    index(place, "docs")
    (place.root / "docs").rename(place.root / "elsewhere")
    with pytest.raises(NotFoundError) as caught:
        index(place)
    assert caught.value.code == "missing_root"
    assert len(paths(place)) == 2


def test_one_missing_root_of_two_is_a_failure_and_removes_nothing(place: Workspace) -> None:
    write(place.root, "more/c.md", "# C\n")
    index(place, "docs", "more")
    shutil.rmtree(place.root / "more")
    report = index(place)
    assert [(one.path, one.code) for one in report.failures] == [("more", "missing_root")]
    assert "more/c.md" in paths(place)


def test_a_missing_path_is_an_error_and_makes_nothing(place: Workspace) -> None:
    with pytest.raises(NotFoundError):
        index(place, "nowhere")
    assert place.kb_names() == []


def test_without_paths_and_without_a_knowledge_base_there_is_an_error(place: Workspace) -> None:
    with pytest.raises(NotFoundError):
        index(place)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "x.lock", "CON", "nul.txt", "a\0", "-x"]
)
def test_a_name_that_is_a_path_trick_is_refused(name: str, place: Workspace) -> None:
    with pytest.raises(UsageError):
        index(place, "docs", kb=name)


def test_names_may_be_chinese(place: Workspace) -> None:
    index(place, "docs", kb="产品文档")
    assert place.kb_names() == ["产品文档"]


def test_an_empty_folder_makes_a_knowledge_base_without_documents(place: Workspace) -> None:
    (place.root / "empty").mkdir()
    report = index(place, "empty")
    assert report.chunks == 0
    assert knowledge.info(place).files == 0


def test_another_analyzer_builds_the_index_anew_and_says_so(place: Workspace) -> None:
    index(place, "docs")
    assign(place.folder / "config.toml", "index.analyzer", "words")
    report = index(place)
    assert report.files.indexed == 2
    assert [one.code for one in report.notices] == ["index_rebuilt"]
    assert knowledge.info(place).analyzer.startswith("words")
    assert not index(place).notices


def test_a_rebuild_reads_everything_and_leaves_one_engine(place: Workspace) -> None:
    index(place, "docs")
    before = knowledge.files(place).files
    report = index(place, rebuild=True)
    assert report.files.indexed == 2
    assert knowledge.files(place).files == before
    assert manifest.engines(place.kb_folder("default")) == [place.manifest("default").engine]


def test_a_damaged_index_is_built_anew_and_says_why(place: Workspace) -> None:
    index(place, "docs")
    engine = place.kb_folder("default") / place.manifest("default").engine
    for path in engine.rglob("*"):
        if path.is_file():
            path.write_bytes(os.urandom(100))
    report = index(place)
    assert report.files.indexed == 2
    assert [one.code for one in report.notices] == ["index_rebuilt"]
    assert len(paths(place)) == 2


@pytest.mark.parametrize("suffix", ["meta.json", ".store", ".idx", ".term", ".fast", ".fieldnorm", "current"])
def test_damage_to_any_file_of_the_index_is_mended(suffix: str, place: Workspace) -> None:
    index(place, "docs")
    engine = place.kb_folder("default") / place.manifest("default").engine
    for path in engine.rglob(f"*{suffix}"):
        path.write_bytes(os.urandom(len(path.read_bytes())))
    index(place)
    index(place, rebuild=True)
    assert len(paths(place)) == 2


def test_a_broken_manifest_is_made_again_from_the_index(place: Workspace) -> None:
    index(place, "docs")
    (place.kb_folder("default") / manifest.FILE).write_text('{"roots": [')
    with pytest.raises(DataError):
        place.manifest("default")
    report = index(place)
    assert [one.code for one in report.notices] == ["kb_recovered"]
    assert roots(place) == ["docs"]
    assert report.files.unchanged == 2


def test_a_preview_tells_and_does_nothing(place: Workspace) -> None:
    first = indexing.preview(place, IndexRequest(paths=(place.root / "docs",)))
    assert first.new == ("docs/a.md", "docs/sub/b.md")
    assert place.kb_names() == []
    index(place, "docs")
    (place.root / "docs/a.md").unlink()
    write(place.root, "docs/sub/b.md", "# changed\n")
    second = indexing.preview(place, IndexRequest())
    assert (second.removed, second.changed) == (("docs/a.md",), ("docs/sub/b.md",))
    assert len(paths(place)) == 2


def test_a_removed_knowledge_base_leaves_the_documents(place: Workspace) -> None:
    index(place, "docs")
    assert indexing.remove(place, "default").files == 2
    assert place.kb_names() == []
    assert (place.root / "docs/a.md").exists()
    with pytest.raises(NotFoundError):
        indexing.remove(place, "default")


def test_one_root_can_be_taken_out(place: Workspace) -> None:
    write(place.root, "more/c.md", "# C\n")
    index(place, "docs", "more")
    assert indexing.remove(place, "default", root=place.root / "docs").files == 2
    assert paths(place) == ["more/c.md"]
    assert index(place).files.unchanged == 1


def test_files_too_large_are_failures(place: Workspace) -> None:
    assign(place.folder / "config.toml", "index.max_file_mb", "0.001")
    write(place.root, "docs/large.md", "x" * 2000)
    report = index(place, "docs")
    assert [(one.path, one.code) for one in report.failures] == [("docs/large.md", "too_large")]
    assign(place.folder / "config.toml", "index.max_file_mb", "1")
    assert index(place).files.indexed == 1


_NAMES = st.sampled_from(["a.md", "b.md", "sub/a.md", "sub/c.txt", "文.md"])
_TEXTS = st.sampled_from(
    ["# One\n\n一\n", "# Two\n\n二\n", "only words, no title\n", "# Three\n\n```\n# no heading\n```\n"]
)
_STEPS = st.one_of(
    st.tuples(st.just("write"), _NAMES, _TEXTS),
    st.tuples(st.just("remove"), _NAMES, st.just("")),
    st.tuples(st.just("rename"), _NAMES, _NAMES),
    st.tuples(st.just("copy"), _NAMES, _NAMES),
    st.tuples(st.just("index"), st.just(""), st.just("")),
)


def take(folder: Path, step: tuple[str, str, str]) -> None:
    kind, name, other = step
    path, target = folder / name, folder / other
    if kind == "write":
        write(folder, name, other)
    elif kind == "remove":
        path.unlink(missing_ok=True)
    elif kind in ("rename", "copy") and path.exists() and name != other:
        target.parent.mkdir(exist_ok=True)
        path.replace(target) if kind == "rename" else shutil.copy2(path, target)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_STEPS, max_size=8))
def test_any_changes_come_to_the_same_as_a_new_index(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "w"
        folder.mkdir()
        workspace.make(folder)
        place = workspace.find(folder)
        write(folder, "first.md", "# First\n")
        indexing.index(place, IndexRequest(paths=(folder,)))
        for step in steps:
            if step[0] == "index":
                indexing.index(place, IndexRequest())
            else:
                take(folder, step)
        indexing.index(place, IndexRequest())
        indexing.index(place, IndexRequest(kb="anew", paths=(folder,)))
        kept, anew = place.reader("default"), place.reader("anew")
        assert same_files(kept.files(), anew.files())
        texts = [sorted(chunk.text for chunk in reader.all_chunks()) for reader in (kept, anew)]
        assert texts[0] == texts[1]
        assert kept.stats["chunks"] == anew.stats["chunks"]
        for record in kept.files():
            assert len(kept.chunks_of(record.doc_id)) == record.chunks
