"""The folder of a model: its files, and what they say about how to use it."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ctxcli.model.errors import DataError, ServiceError
from ctxcli.model.ports import TextRole

Pooling = Literal["mean", "cls"]
OWN_FILE = "ctx.json"
"""May hold ``pooling``, ``query_prefix``, ``passage_prefix`` and ``max_tokens``; it overrides all other files."""
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_ONNX = (
    "model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx", "model_int8.onnx",
    "onnx/model_int8.onnx",
)  # fmt: skip
_LONGEST = 512


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model wants its texts: `max_tokens` are read of each, a prefix says whether it asks or answers."""

    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = _LONGEST

    def prefix(self, role: TextRole) -> str:
        """What stands before a text that asks or answers."""
        return self.query_prefix if role == "query" else self.passage_prefix

    @property
    def prefixes(self) -> str:
        """Both, as they stand in fingerprints."""
        return f"{self.query_prefix!r}/{self.passage_prefix!r}"


def find(name: str, *, root: Path) -> Path:
    """The folder `name`, relative to `root`, or that of a model of the Hugging Face hub which was fetched before.

    Nothing is ever downloaded. ServiceError where it is not on this machine.
    """
    folder = root / Path(name).expanduser()
    if folder.is_dir():
        return folder
    if _HUB_ID.fullmatch(name) and not name.startswith("."):
        cached = _cached(name)
        if cached:
            return cached
        raise ServiceError(
            f"the model {name} is not on this machine, and ctx downloads none by itself",
            code="model_missing",
            hint=f"fetch it once: hf download {name}",
        )
    raise ServiceError(f"{name} is no folder", code="model_missing", hint="name the folder that holds the model")


def _cached(name: str) -> Path | None:
    from ctxcli.providers.extras import needed

    hub = needed("huggingface_hub", extra="onnx", by=f"the model {name}")
    try:
        return Path(hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError, hub.errors.HfHubHTTPError):
        return None


def file_in(folder: Path, *names: str) -> Path:
    """The first of some files that is there; ServiceError where none is."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ServiceError(
        f"{folder} holds no {' or '.join(names[:2])}", code="model_missing", hint="name the folder that holds the model"
    )


def onnx_file(folder: Path) -> Path:
    """The network of a folder: the usual names first, else the only one there is."""
    others = sorted(path.relative_to(folder).as_posix() for path in folder.glob("*.onnx"))
    return file_in(folder, *_ONNX, *(others if len(others) == 1 else ()))


def network_files(folder: Path) -> tuple[Path, ...]:
    """What an ONNX model computes with: the network, its tokenizer, and the weights where they lie beside it."""
    network = onnx_file(folder)
    return network, file_in(folder, "tokenizer.json"), *sorted(network.parent.glob(f"{network.name}[._]data*"))


def options_of(folder: Path) -> ModelOptions:
    """What the files of a model say: its own configuration, that of sentence-transformers, ours on top."""
    found = ModelOptions()
    pooling = _json(folder / "1_Pooling" / "config.json")
    if pooling.get("pooling_mode_cls_token"):
        found = replace(found, pooling="cls")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    if isinstance(prompts, dict):
        query = prompts.get("query") or ""
        passage = prompts.get("document") or prompts.get("passage") or ""
        found = replace(found, query_prefix=str(query), passage_prefix=str(passage))
    config = _json(folder / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 2:
        reserved = 2 if "roberta" in str(config.get("model_type")) else 0
        found = replace(found, max_tokens=min(_LONGEST, positions - reserved))
    most = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(most, int) and most > 0:
        found = replace(found, max_tokens=min(found.max_tokens, most))
    return _own(folder / OWN_FILE, found)


def _own(path: Path, found: ModelOptions) -> ModelOptions:
    own = _json(path)
    wanted = {"pooling": str, "query_prefix": str, "passage_prefix": str, "max_tokens": int}
    for name, value in own.items():
        if name not in wanted or not isinstance(value, wanted[name]) or isinstance(value, bool):
            raise DataError(f"{path}: {name} is no option of a model", code="bad_model_options", hint=_OWN_HINT)
    if own.get("pooling", "mean") not in ("mean", "cls") or own.get("max_tokens", 1) < 1:
        raise DataError(f"{path}: a value that cannot be", code="bad_model_options", hint=_OWN_HINT)
    return replace(found, **own)


_OWN_HINT = "it may hold pooling (mean or cls), query_prefix, passage_prefix and max_tokens"


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}", code="bad_model_options", hint="mend the file") from error
    return data if isinstance(data, dict) else {}
