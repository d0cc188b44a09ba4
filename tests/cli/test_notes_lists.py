"""`ctx note list`, `search` and `summary` as processes."""

from pathlib import Path

from tests.cli.run import ctx, write
from tests.cli.test_notes import create, place

__all__ = ["place"]


def test_list_filters_sorts_and_says_how_many(place: Path) -> None:
    a = create(place, "b title", "--type", "blocker", "--tag", "x", "--tag", "y/z")
    b = create(place, "a title", "--tag", "x")
    write(place, "notes/old.md", "---\ntitle: c\ncreated: 2020-01-01\nupdated: 2021-05-06\ntags: y\n---\n")

    def ids(*arguments: str) -> list[str]:
        return [note["id"] for note in ctx(place, "note", "list", *arguments, "--json").json["notes"]]

    old = ctx(place, "note", "list", "--until", "2022-01-01", "--json").json["notes"][0]["id"]
    assert ids() == [b, a, old]
    assert ids("--sort", "title") == [b, a, old]
    assert ids("--sort", "created")[-1] == old
    assert ids("--type", "blocker") == [a]
    assert ids("--tag", "x", "--tag", "y") == [a]
    assert ids("--tag", "X", "--tag", "y", "--any") == [b, a, old]
    assert ids("--since", "7 days") == ids("--since", "1 周") == [b, a]
    assert ids("--until", "2021-05-06") == [old]
    done = ctx(place, "note", "list", "--limit", "1")
    assert "1/3" in done.out
    done = ctx(place, "note", "list", "--limit", "1", "--json").json
    assert (done["total"], done["shown"], len(done["notes"])) == (3, 1, 1)
    assert list(done["notes"][0]) == ["id", "title", "type", "tags", "created_at", "updated_at", "path", "extra"]
    assert ctx(place, "note", "list", "--since", "soon").code == 2
    assert ctx(place, "note", "list", "--sort", "size").code == 2
    empty = ctx(place, "note", "list", "--tag", "none", "--json")
    assert (empty.code, empty.json) == (0, {"schema": "ctx/notes/1", "total": 0, "shown": 0, "notes": []})
    assert ctx(place, "note", "list", "--tag", "none", "--fail-empty").code == 4
    assert ctx(place, "note", "search", "zzz", "--fail-empty").code == 4


def test_search_ranks_titles_before_tags_before_text(place: Path) -> None:
    body = create(place, "one", "--content", "连接池 " * 20 + "deploys")
    tag = create(place, "two", "--tag", "连接池", "--tag", "deployment")
    title = create(place, "连接池超时", "--content", "how we deploy")
    found = ctx(place, "note", "search", "连接池", "--json").json
    assert [hit["id"] for hit in found["notes"]] == [title, tag, body]
    assert found["notes"][0]["score"] > found["notes"][1]["score"] > found["notes"][2]["score"]
    assert "**连接池**" in found["notes"][2]["snippet"]
    assert list(found["notes"][0])[-2:] == ["score", "snippet"]
    assert {hit["id"] for hit in ctx(place, "note", "search", "Deploying", "--json").json["notes"]} == {
        body,
        tag,
        title,
    }
    assert ctx(place, "note", "search", "连接池", "--tag", "deployment", "--json").json["total"] == 1
    assert ctx(place, "note", "search", "").code == 2


def test_summary_counts_and_lists_what_is_open(place: Path) -> None:
    blocker = create(place, "stuck", "--type", "blocker", "--tag", "x")
    create(place, "todo", "--type", "action", "--tag", "x", "--tag", "y")
    write(place, "notes/closed.md", "---\ntype: action\nstatus: Done\n---\n")
    write(place, "notes/closed2.md", "---\ntype: blocker\ntags: [已解决]\n---\n")
    found = ctx(place, "note", "summary", "--json").json
    assert list(found) == [
        "schema",
        "total_notes",
        "type_distribution",
        "tag_distribution",
        "recent_notes",
        "open_blockers",
        "open_actions",
        "weekly",
    ]
    assert found["total_notes"] == 4
    assert found["type_distribution"] == {"action": 2, "blocker": 2}
    assert found["tag_distribution"] == {"x": 2, "y": 1, "已解决": 1}
    assert [note["id"] for note in found["open_blockers"]] == [blocker]
    assert [note["title"] for note in found["open_actions"]] == ["todo"]
    assert len(found["weekly"]) == 12 and found["weekly"][-1]["notes"] == 4
    assert ctx(place, "note", "summary").code == 0
