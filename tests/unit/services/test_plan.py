"""What changed since the last run."""

from dataclasses import replace

from ctxcli.model.index import FileRecord
from ctxcli.services.ingest.plan import DocIds, Plan, make_plan
from ctxcli.storage.walk import Found, Walked


def version(name: str) -> str:
    return f"{name}/1"


def record(path: str, sha: str = "", **changes: object) -> FileRecord:
    sha = sha or f"sha-{path}"
    values = FileRecord(path, ".", sha[:16], 10, 1000, sha, "ok", "markdown", "markdown/1")
    return replace(values, **changes)  # type: ignore[arg-type]


def found(path: str, size: int = 10, mtime_ns: int = 1000) -> Found:
    return Found(path, ".", f"/w/{path}", size, mtime_ns)


def plan_for(records: list[FileRecord], files: list[Found], unknown: tuple[str, ...] = (), scope: str = ".") -> Plan:
    return make_plan(records, Walked(files, unknown=list(unknown)), scope=(scope,), parser_version=version)


def read(plan: Plan) -> list[str]:
    return [task.found.path for task in plan.tasks]


def test_a_file_with_the_same_size_and_time_is_unchanged() -> None:
    plan = plan_for([record("a.md")], [found("a.md")])
    assert plan.is_empty
    assert plan.unchanged == 1


def test_a_file_with_another_size_or_time_is_read() -> None:
    plan = plan_for([record("a.md"), record("b.md")], [found("a.md", size=11), found("b.md", mtime_ns=1)])
    assert read(plan) == ["a.md", "b.md"]
    assert plan.tasks[0].known == ("sha-a.md",)


def test_a_file_that_failed_is_tried_again() -> None:
    plan = plan_for([record("a.md", status="failed")], [found("a.md")])
    assert read(plan) == ["a.md"]


def test_another_version_of_the_parser_reads_the_file_again() -> None:
    plan = plan_for([record("a.md", parser="markdown/0")], [found("a.md")])
    assert read(plan) == ["a.md"]
    assert plan.tasks[0].known == ()
    assert plan.outdated == {("markdown/0", "markdown/1"): 1}


def test_a_file_that_is_not_there_is_gone() -> None:
    assert plan_for([record("a.md"), record("b.md")], [found("a.md")]).gone == [record("b.md")]


def test_nothing_below_a_folder_that_could_not_be_read_is_gone() -> None:
    records = [record("a.md"), record("sub/b.md"), record("sub/deep/c.md"), record("sub2/d.md")]
    assert [one.path for one in plan_for(records, [], unknown=("sub",)).gone] == ["a.md", "sub2/d.md"]


def test_nothing_out_of_scope_is_gone() -> None:
    records = [record("a.md"), record("docs/b.md"), record("/else/c.md")]
    assert [one.path for one in plan_for(records, [], scope="docs").gone] == ["docs/b.md"]


def test_a_file_of_the_size_of_one_that_is_gone_may_be_it() -> None:
    plan = plan_for([record("old.md")], [found("new.md"), found("other.md", size=99)])
    assert [task.known for task in plan.tasks] == [("sha-old.md",), ()]


def test_a_file_whose_title_is_its_name_is_prepared_again_when_renamed() -> None:
    plan = plan_for([record("old.md", title_from_name=True)], [found("new.md")])
    assert plan.tasks[0].known == ()


def test_a_file_renamed_to_another_ending_is_prepared_again() -> None:
    assert plan_for([record("old.txt")], [found("new.md")]).tasks[0].known == ()


def test_a_name_composed_otherwise_is_the_same_file() -> None:
    plan = plan_for([record("cafe\u0301.md")], [found("caf\u00e9.md")])
    assert [new.path for _, new in plan.relabelled] == ["caf\u00e9.md"]
    assert not plan.gone
    assert not plan.tasks


def test_of_two_names_that_differ_in_composition_only_one_is_taken() -> None:
    plan = plan_for([], [found("caf\u00e9.md"), found("cafe\u0301.md")])
    assert read(plan) == ["cafe\u0301.md"]
    assert [twin.path for twin in plan.twins] == ["caf\u00e9.md"]


def test_names_that_differ_in_case_are_two_files() -> None:
    assert read(plan_for([], [found("README.md"), found("readme.md")])) == ["README.md", "readme.md"]


def test_ids_of_equal_content_are_numbered() -> None:
    ids = DocIds([])
    assert [ids.take("x" * 64, path) for path in ("a", "b", "c")] == ["x" * 16, "x" * 16 + "-2", "x" * 16 + "-3"]


def test_an_id_that_is_given_up_can_be_had_again() -> None:
    ids = DocIds([record("a", "x" * 64)])
    assert ids.take("y" * 64, "a") == "y" * 16
    assert ids.take("x" * 64, "b") == "x" * 16
