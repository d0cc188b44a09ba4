"""Settings: flag > environment > workspace > user > default, each with its origin.

A workspace may come from a stranger. Until the user has said ``ctx trust``, its config cannot set what names a
command, an endpoint or a place outside the workspace.
"""

import os
import re
import sys
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ctxcli.model.errors import DataError, NotFoundError, UsageError
from ctxcli.storage.files import atomic_write, sha256, write_text

Kind = Literal["text", "integer", "number", "flag", "texts"]
Guard = Literal["", "command", "endpoint", "path"]
Scalar = str | int | float | bool | tuple[str, ...] | None


class Key(NamedTuple):
    """A setting. `guard` says why a workspace's config may not set it untrusted ("" it may; a path may stay inside).

    `minimum` and `maximum` bound numbers; `choices` lists the values a text may have (empty: any).
    """

    name: str
    kind: Kind
    default: Scalar
    help: str
    guard: Guard = ""
    minimum: float | None = None
    choices: tuple[str, ...] = ()
    env: str = ""
    maximum: float | None = None

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return self.env or "CTX_" + self.name.replace(".", "_").upper()


MODES = ("bm25", "keyword", "vector", "hybrid")
BY_MEANING = ("vector", "hybrid")
"""The modes that need vectors."""
FUSIONS = ("scores", "rrf")
_NOTE_TYPES = ("task_state", "conclusion", "blocker", "action", "reference", "general")
KEYS = (
    Key("index.analyzer", "text", "bigrams", "How Chinese is cut: bigrams or words", choices=("bigrams", "words")),
    Key("index.jobs", "integer", 0, "Worker processes at most; 0 for one a core", minimum=0),
    Key("index.max_file_mb", "number", 64, "Larger files are not read", minimum=0),
    Key("index.file_seconds", "number", 60, "Time a file may take, in seconds", minimum=1),
    Key("index.file_seconds_per_mb", "number", 10, "Further time for each megabyte of it", minimum=0),
    Key("index.file_memory_mb", "integer", 2048, "Memory a file may take; 0 for no limit", minimum=0),
    Key("index.lock_seconds", "number", 10, "How long to wait for another process that writes", minimum=0),
    Key("ask.top_k", "integer", 10, "Ranked chunks that an answer is looked for in", minimum=1),
    Key(
        "ask.threshold",
        "number",
        None,
        "Score from which a question is answered (0 to 1); else the one fitted by `ctx kb calibrate`, else 0.4",
        minimum=0,
        maximum=1,
    ),
    Key("ask.notes", "flag", False, "Whether notes are searched too"),
    Key("ask.mode", "text", "bm25", "How chunks are ranked", guard="endpoint", choices=MODES),
    Key("ask.fusion", "text", "scores", "How words and meaning are put together", choices=FUSIONS),
    Key("ask.rerank", "flag", False, "Whether the best chunks are ranked again by `rerank.model`", guard="endpoint"),
    Key("ask.llm", "flag", False, "Whether a language model words the answers", guard="endpoint"),
    Key("notes.dir", "text", "notes", "Folder of the notes", guard="path"),
    Key("notes.types", "texts", _NOTE_TYPES, "Types that a note may have"),
    Key("context.budget", "integer", 4000, "Tokens a context may have", minimum=1),
    Key("llm.model", "text", None, "Language model", env="CTX_MODEL"),
    Key("llm.base_url", "text", None, "Endpoint of the language model", guard="endpoint", env="OPENAI_BASE_URL"),
    Key("llm.max_tokens", "integer", None, "Tokens that a reply of the model may have", minimum=1),
    Key("llm.timeout", "number", 60, "How long the model may say nothing, in seconds", minimum=1),
    Key("embed.base_url", "text", None, "Endpoint of openai: embeddings; else the language model's", guard="endpoint"),
    Key("embed.batch", "integer", 32, "Texts in one request for embeddings", minimum=1),
    Key("embed.exact_up_to", "integer", 500_000, "Up to so many chunks meaning is searched exactly", minimum=0),
    Key("embed.pooling", "text", None, "How an onnx: model is pooled, against its files", choices=("mean", "cls")),
    Key("embed.query_prefix", "text", None, "Put before a question that is embedded"),
    Key("embed.passage_prefix", "text", None, "Put before a passage that is embedded"),
    Key("rerank.model", "text", None, "Reranker: onnx:FOLDER, http:MODEL or llm", guard="endpoint"),
    Key("rerank.base_url", "text", None, "Endpoint of an http: reranker", guard="endpoint"),
    Key("rerank.top", "integer", 30, "Chunks that are ranked again", minimum=2),
    Key("editor", "text", None, "Command that edits a note", guard="command"),
)
_BY_NAME = {key.name: key for key in KEYS}


class Setting(NamedTuple):
    """A value and where it comes from: ``flag``, ``CTX_…``, the path of a config file, or ``default``."""

    key: Key
    value: Scalar
    origin: str


class Settings(NamedTuple):
    """All settings by name. `ignored` names what an untrusted workspace wanted to set."""

    values: Mapping[str, Setting]
    ignored: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """A text, "" where it is not set."""
        value = self.values[name].value
        return "" if value is None else str(value)

    def integer(self, name: str) -> int:
        """A whole number."""
        return int(self.number(name))

    def number(self, name: str) -> float:
        """A number; the caller knows that it is set."""
        value = self.values[name].value
        assert isinstance(value, int | float)
        return value

    def flag(self, name: str) -> bool:
        """Yes or no."""
        return bool(self.values[name].value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.values[name].value
        assert isinstance(value, tuple)
        return value

    def optional_number(self, name: str) -> float | None:
        """A number, or None where it is not set."""
        return None if self.values[name].value is None else self.number(name)


_XDG_PLATFORMS = frozenset({"linux", "freebsd13", "freebsd14"})


def user_config() -> Path:
    """The user's config file; it need not exist."""
    return _user_folder("config") / "config.toml"


def _user_folder(kind: Literal["config", "data"]) -> Path:
    variable = os.environ.get("XDG_CONFIG_HOME" if kind == "config" else "XDG_DATA_HOME", "")
    if variable and Path(variable).is_absolute():
        return Path(variable) / "ctx"
    if sys.platform in _XDG_PLATFORMS:  # as platformdirs says, without its import
        return Path.home().joinpath(*((".config",) if kind == "config" else (".local", "share")), "ctx")
    from platformdirs import PlatformDirs

    places = PlatformDirs("ctx", appauthor=False)
    return places.user_config_path if kind == "config" else places.user_data_path


def load(
    workspace: Path | None, *, flags: Mapping[str, Scalar] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Settings for a workspace (None: outside of any). A flag that is None does not count."""
    environ = os.environ if environ is None else environ
    values = {key.name: Setting(key, key.default, "default") for key in KEYS}
    values.update(_from_file(user_config()))
    ignored: tuple[str, ...] = ()
    if workspace:
        of_workspace = _from_file(workspace / ".ctx" / "config.toml")
        ignored = _passed_over(of_workspace, workspace)
        values.update({name: one for name, one in of_workspace.items() if name not in ignored})
    for key in KEYS:
        if text := environ.get(key.variable, ""):
            values[key.name] = Setting(key, parse(key, text, origin=key.variable), key.variable)
    for name, value in (flags or {}).items():
        if value is not None:
            values[name] = Setting(_BY_NAME[name], value, "flag")
    return Settings(values, ignored)


def key_named(name: str) -> Key:
    """The key with that name; an error with the nearest name where there is none."""
    if name not in _BY_NAME:
        raise NotFoundError(f"there is no setting {name!r}", code="unknown_setting", hint=_suggestion(name))
    return _BY_NAME[name]


def parse(key: Key, text: str, *, origin: str) -> Scalar:
    """Read a value written as text."""
    value: Any = text
    try:
        if key.kind == "integer":
            value = int(text)
        elif key.kind == "number":
            value = float(text)
        elif key.kind == "flag":
            value = _FLAGS[text.strip().lower()]
        elif key.kind == "texts":
            value = tuple(part.strip() for part in text.split(",") if part.strip())
    except (ValueError, KeyError):
        raise _wrong(key, text, origin) from None
    return _checked(key, value, origin)


_FLAGS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_WANTED: dict[Kind, str] = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list",
}
_TYPES: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "flag": (bool,),
    "texts": (list, tuple),
}


def _checked(key: Key, value: Any, origin: str) -> Scalar:
    fits = isinstance(value, _TYPES[key.kind]) and (key.kind == "flag" or not isinstance(value, bool))
    if fits and key.kind in ("integer", "number"):
        fits = not isnan(value) and (key.minimum is None or value >= key.minimum)
        fits = fits and (key.maximum is None or value <= key.maximum)
    if fits and key.choices:
        fits = value in key.choices
    if fits and key.kind == "texts":
        fits = all(isinstance(one, str) for one in value)
        value = tuple(value)
    if not fits:
        raise _wrong(key, value, origin)
    checked: Scalar = value
    return checked


def _wrong(key: Key, value: Any, origin: str) -> UsageError:
    what = f"one of {', '.join(key.choices)}" if key.choices else _WANTED[key.kind]
    if key.minimum is not None:
        what += f" from {key.minimum:g} " + ("on" if key.maximum is None else f"to {key.maximum:g}")
    where = "" if origin == key.name else f"{origin}: "
    return UsageError(f"{where}{key.name} must be {what}, not {value!r}", code="bad_setting")


def _from_file(path: Path) -> dict[str, Setting]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}", code="config_unreadable") from error
    import tomllib

    try:
        tables = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no valid TOML: {error}", code="config_broken", hint=f"edit {path}") from error
    found: dict[str, Setting] = {}
    for name, value in _flat(tables):
        if name not in _BY_NAME:
            raise DataError(f"{path}: there is no setting {name!r}", code="unknown_setting", hint=_suggestion(name))
        try:
            found[name] = Setting(_BY_NAME[name], _checked(_BY_NAME[name], value, str(path)), str(path))
        except UsageError as error:
            raise DataError(error.message, code=error.code, hint=f"edit {path}") from None
    return found


def _flat(tables: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in tables.items():
        if isinstance(value, dict):
            found.extend(_flat(value, f"{prefix}{name}."))
        else:
            found.append((prefix + name, value))
    return found


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, _BY_NAME, n=1) or [one for one in _BY_NAME if one.endswith("." + name)]
    return f"did you mean {near[0]}?" if near else "see: ctx config list"


def _is_guarded(setting: Setting, workspace: Path) -> bool:
    guard = setting.key.guard
    if guard == "path":
        return not (workspace / str(setting.value)).resolve().is_relative_to(workspace.resolve())
    return bool(guard)


def passed_over(workspace: Path) -> tuple[str, ...]:
    """What the config of this workspace sets and, as long as it is not trusted, may not."""
    return _passed_over(_from_file(workspace / ".ctx" / "config.toml"), workspace)


def _passed_over(found: Mapping[str, Setting], workspace: Path) -> tuple[str, ...]:
    guarded = tuple(name for name, one in found.items() if _is_guarded(one, workspace))
    return () if not guarded or is_trusted(workspace) else guarded


def assign(path: Path, name: str, text: str) -> Setting:
    """Set a value in a config file and keep the rest of it as it is, comments too."""
    key = key_named(name)
    value = parse(key, text, origin=name)
    old = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
    _from_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = _with_value(old, name, _toml(value))
    import tomllib

    if dict(_flat(tomllib.loads(new))).get(name) != (list(value) if isinstance(value, tuple) else value):
        message = f"{path} is written in a way that cannot be changed here"
        raise DataError(message, code="config_form", hint=f"edit {path}")
    write_text(path, new)
    return Setting(key, value, str(path))


def _with_value(text: str, name: str, value: str) -> str:
    """Replace the line that sets `name` in TOML `text`, or add one."""
    table, _, last = name.rpartition(".")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    current, insert_at = "", 0 if not table else None
    for number, line in enumerate(lines):
        if header := re.match(r"\s*\[\s*([\w.]+)\s*\]", line):
            current = header[1]
        elif re.match(rf"\s*{re.escape(last if current == table else name if not current else chr(0))}\s*=", line):
            lines[number] = f"{line[: len(line) - len(line.lstrip())]}{line.split('=')[0].strip()} = {value}"
            return newline.join(lines) + newline
        if current == table and (line.strip() or header):
            insert_at = number + 1
    if insert_at is None:
        lines += ([""] if lines else []) + [f"[{table}]", f"{last} = {value}"]
    else:
        lines.insert(insert_at, f"{last} = {value}")
    return newline.join(lines) + newline


def _toml(value: Scalar) -> str:
    import json

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(json.dumps(one, ensure_ascii=False) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _trust_file() -> Path:
    return _user_folder("data") / "trusted.json"


def _fingerprint(workspace: Path) -> str:
    config = workspace / ".ctx" / "config.toml"
    return sha256(config.read_bytes()) if config.is_file() else ""


def _trusted() -> dict[str, str]:
    import json

    try:
        data = json.loads(_trust_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in data.items()} if isinstance(data, dict) else {}


def is_trusted(workspace: Path) -> bool:
    """Whether the user trusts the config of this workspace as it is now."""
    return _trusted().get(str(workspace.resolve())) == _fingerprint(workspace)


def trust(workspace: Path) -> None:
    """Trust the config of this workspace as it is now; when it changes, it has to be trusted again."""
    _keep_trust(str(workspace.resolve()), _fingerprint(workspace))


def allow(workspace: Path, what: str, value: str) -> None:
    """Remember that the user asked for `what` with this value here: a workspace's own files cannot."""
    if not is_allowed(workspace, what, value):
        _keep_trust(f"{workspace.resolve()}#{what}", value)


def is_allowed(workspace: Path, what: str, value: str) -> bool:
    """Whether the user has asked for it."""
    return _trusted().get(f"{workspace.resolve()}#{what}") == value


def _keep_trust(name: str, value: str) -> None:
    import json

    path = _trust_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {**_trusted(), name: value}
    atomic_write(path, json.dumps(data, ensure_ascii=False, indent=2).encode("utf-8", "surrogateescape"))
