"""The Model Context Protocol: in process, over stdio against the command, over HTTP."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from ctxcli import mcp_server
from ctxcli.model.errors import CtxError
from ctxcli.services.tools import TOOLS, Toolbox
from tests.cli.run import ctx, environment, write
from tests.llm_server import Scripted, scripted, status
from tests.schemas import valid

PUMP = "When does the irrigation pump start?"
MANUAL = "# Manual\n\n## 6.4 Pumps\n\nThe irrigation pump starts at six in the morning.\n\n灌溉水泵每天早上六点启动。\n"
INSTALLED = Path(sys.executable).with_name("ctx")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mcp") / "w"
    write(folder, "docs/manual.md", MANUAL)
    assert ctx(folder, "kb", "index", "docs", "-q").code == 0
    return folder


async def call(client: Any, tool: str, **arguments: Any) -> tuple[dict[str, Any], bool]:
    found = await client.call_tool(tool, arguments)
    document = json.loads(found.content[0].text)
    assert found.structured_content == (None if found.is_error else document)
    return valid(document), bool(found.is_error)


async def everything(client: Any) -> None:
    """What a client of any transport sees."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {tool.name for tool in TOOLS if not tool.writes}
    for tool in tools.values():
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations.read_only_hint is True
    hits, failed = await call(client, "search", query="irrigation pump")
    assert (failed, hits["hits"][0]["doc"]) == (False, "docs/manual.md")
    chunk, _ = await call(client, "fetch", id=hits["hits"][0]["id"])
    assert "six in the morning" in chunk["text"]
    answer, _ = await call(client, "ask", question="水泵几点启动？", kb='["default"]')
    assert "六点" in answer["answer"]
    declined, failed = await call(client, "ask", question="Who wrote the opera Carmen?")
    assert (declined["declined"], declined["citations"], failed) == (True, [], False)
    assert (await call(client, "search", query="zebra"))[0]["hits"] == []
    assert (await call(client, "get", doc="manual.md", line_start=3, line_end=3))[0]["text"] == "## 6.4 Pumps\n"
    assert (await call(client, "status"))[0]["knowledge_bases"][0]["files"] == 1
    assert (await call(client, "note_list"))[0]["notes"] == []
    assert (await call(client, "facts"))[0]["facts"] == []
    assert "six" in (await call(client, "context", query=PUMP))[0]["text"]
    wrong, failed = await call(client, "search", query="pump", sections="6.4")
    assert (failed, wrong["error"]["code"]) == (True, "unknown_parameter")
    assert wrong["error"]["hint"] == "did you mean section?"
    refused, failed = await call(client, "note_create", title="x")
    assert (failed, refused["error"]["code"]) == (True, "not_allowed")
    declined, failed = await call(client, "ask", question="谁写了歌剧《卡门》？")
    assert (declined["declined"], declined["citations"], failed) == (True, [], False)
    for uri in ("ctx://doc/docs/none.md", "ctx://doc/../manual.txt", "file:///etc/hostname"):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert (caught.value.code, bool(caught.value.message)) == (-32002, True)
    read = await client.read_resource(hits["hits"][0]["url"])
    assert read.contents[0].text == MANUAL


def test_a_client_in_process_sees_the_tools_and_their_documents(place: Path) -> None:
    async def run() -> None:
        async with Client(mcp_server.build(Toolbox(place))) as client:
            await everything(client)

    anyio.run(run)


def test_tools_that_write_are_there_only_where_allowed(place: Path, tmp_path: Path) -> None:
    async def run() -> None:
        folder = tmp_path / "w"
        (folder / ".ctx").mkdir(parents=True)
        async with Client(mcp_server.build(Toolbox(folder, allow_write=True))) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {tool.name for tool in TOOLS}
            assert tools["note_delete"].annotations.destructive_hint is True
            note, failed = await call(client, "note_create", title="计划 [bold]x[/]", tags='["a", "b"]')
            assert (failed, note["tags"]) == (False, ["a", "b"])
            changed, _ = await call(client, "note_update", note_id=note["id"], append="more")
            assert changed["content"] == "more"
            fact, _ = await call(client, "fact_set", key="n", value="254", source="test")
            assert fact["value"] == 254
            assert (await call(client, "note_delete", note_id=note["id"]))[0]["purged"] is False
            assert (await call(client, "note_list"))[0]["notes"] == []

    anyio.run(run)


def test_a_tool_that_breaks_does_not_end_the_server(place: Path) -> None:
    class Broken(Toolbox):
        def call(self, name: str, arguments: object) -> dict[str, Any]:
            raise RuntimeError("boom")

    found, failed = Broken(place).outcome("search", {})
    assert (failed, found["error"]["code"]) == (True, "bug")


def test_without_a_workspace_each_call_says_so(tmp_path: Path) -> None:
    found, failed = Toolbox(tmp_path / "none").outcome("search", {"query": "x"})
    assert (failed, found["error"]["code"]) == (True, "no_workspace")


def test_the_installed_command_serves_over_stdio(place: Path) -> None:
    async def run() -> None:
        server = StdioServerParameters(
            command=str(INSTALLED), args=["mcp", "-w", str(place)], env=environment(place), cwd=str(place)
        )
        with anyio.fail_after(60):
            async with Client(stdio_client(server)) as client:
                await everything(client)

    anyio.run(run)


def test_standard_output_carries_the_protocol_only_and_the_end_of_input_ends_it(place: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    search = {"name": "search", "arguments": {"query": "水泵"}}
    lines: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": search,
        },
    ]
    process = subprocess.Popen(
        [INSTALLED, "mcp"],
        cwd=place,
        env=environment(place, PYTHONIOENCODING="gbk", LC_ALL="C"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout and process.stderr
    try:
        answers = []
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            if "id" in line:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(30) == 0
        rest = process.stdout.read()
        assert [json.loads(one) for one in rest.splitlines()] == []
        assert [one["id"] for one in answers] == [1, 2, 3]
        assert answers[0]["result"]["serverInfo"]["name"] == "ctx"
        assert answers[2]["result"]["structuredContent"]["hits"][0]["quote"] == "灌溉水泵每天早上六点启动。"
        assert b"Traceback" not in process.stderr.read()
    finally:
        process.kill()


def test_a_client_that_goes_away_ends_the_server(place: Path) -> None:
    process = subprocess.Popen(
        [INSTALLED, "mcp"], cwd=place, env=environment(place), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    process.stdout.close()
    process.stdin.close()
    assert process.wait(30) == 0


HANDSHAKE = [
    {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]  # fmt: skip


@pytest.mark.parametrize("way", ["asked", "idle"])
@pytest.mark.parametrize(("end", "code"), [("close", 0), ("interrupt", 130)])
def test_a_tool_that_waits_for_a_service_does_not_outlive_the_client(
    place: Path, way: str, end: str, code: int
) -> None:
    waiting, gone = threading.Event(), threading.Event()

    def wait(body: object) -> Scripted:
        waiting.set()
        gone.wait(60)
        return status(500)

    with scripted(wait) as service:
        more = {"CTX_RERANK_MODEL": "http:m", "CTX_RERANK_BASE_URL": service.url, "CTX_ASK_RERANK": "1"}
        process = subprocess.Popen(
            [INSTALLED, "mcp"], cwd=place, env=environment(place, **more), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdin and process.stdout
        call = {"name": "ask", "arguments": {"question": PUMP}}
        asked = [{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}] if way == "asked" else []
        for one in (*HANDSHAKE, *asked):
            process.stdin.write(json.dumps(one) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        assert way == "idle" or waiting.wait(30)
        process.stdin.close() if end == "close" else process.send_signal(signal.SIGINT)
        try:
            assert process.wait(15) == code
        finally:
            gone.set()
            process.kill()


@contextmanager
def served(place: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [INSTALLED, "mcp", "--http", "127.0.0.1:0"],
        cwd=place,
        env=environment(place),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr and process.stdout
    try:
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        yield found[0]
    finally:
        process.terminate()
        process.wait(20)
        assert process.stdout.read() == ""


def test_http_serves_on_this_machine_and_refuses_foreign_pages(place: Path) -> None:
    with served(place) as url:

        async def run() -> None:
            with anyio.fail_after(60):
                async with Client(url) as client:
                    await everything(client)

        anyio.run(run)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"Accept": "application/json, text/event-stream"}
        with httpx.Client(trust_env=False, headers=accept) as client:
            assert client.post(url, json=body, headers={"Origin": "https://evil.example"}).status_code == 403
            assert client.post(url, json=body, headers={"Host": "evil.example"}).status_code == 421
            assert client.post(url, json=body, headers={"Host": "127.0.0.1.evil.example:80"}).status_code == 421
            assert client.get(url, headers={"Origin": "null"}).status_code == 403


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8765", "192.168.1.5:80", "example.com:80", "[::]:80", "127.0.0.1:99999", "x"]
)
def test_http_is_not_offered_to_other_machines(address: str) -> None:
    with pytest.raises(CtxError):
        mcp_server.read_address(address)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("localhost:81", ("127.0.0.1", 81)),
        (":82", ("127.0.0.1", 82)),
        ("83", ("127.0.0.1", 83)),
        ("[::1]:84", ("::1", 84)),
    ],
)
def test_addresses_of_this_machine_are_read(address: str, found: tuple[str, int]) -> None:
    assert mcp_server.read_address(address) == found


def test_a_port_that_is_taken_is_told(place: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = ctx(place, "mcp", "--http", f"127.0.0.1:{taken.getsockname()[1]}")
    assert (done.code, "another port" in done.err) == (6, True)


def test_a_missing_extra_is_named(place: Path, tmp_path: Path) -> None:
    write(
        tmp_path, "block/sitecustomize.py", "import sys\nsys.modules['mcp_types'] = None\nsys.modules['mcp'] = None\n"
    )
    path = os.pathsep.join([str(tmp_path / "block"), environment(place)["PYTHONPATH"]])
    done = ctx(place, "mcp", PYTHONPATH=path)
    assert done.code == 8
    assert "pip install '.[mcp]' in the folder of ctx" in done.err
    assert "Traceback" not in done.err


def test_other_commands_do_not_load_the_protocol(place: Path) -> None:
    code = "import sys; from ctxcli.cli.app import run; run(['tools']); print('mcp' in sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=place, env=environment(place), capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == "False"


INSPECTOR = Path(sys.prefix) / "inspector" / "node_modules" / ".bin" / "mcp-inspector"


@pytest.mark.slow
@pytest.mark.skipif(not INSPECTOR.exists(), reason="the inspector is not installed: see .ci/run")
def test_a_client_of_another_make_understands_the_server(place: Path) -> None:
    def inspect(*arguments: str) -> Any:
        done = subprocess.run(
            [INSPECTOR, "--cli", INSTALLED, "mcp", "-w", place, *arguments],
            cwd=place,
            env=environment(place),
            capture_output=True,
            timeout=120,
            check=True,
        )
        return json.loads(done.stdout)

    assert inspect("--method", "tools/list")["tools"][0]["name"] == "search"
    call_ask = ("--method", "tools/call", "--tool-name", "ask", "--tool-arg", f"question={PUMP}")
    assert inspect(*call_ask)["structuredContent"]["declined"] is False
    call_search = (
        "--method",
        "tools/call",
        "--tool-name",
        "search",
        "--tool-arg",
        "query=pump",
        "--tool-arg",
        "limitt=1",
    )
    assert "did you mean limit?" in json.dumps(inspect(*call_search))
