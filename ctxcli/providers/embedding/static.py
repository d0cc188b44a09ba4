"""``static:FOLDER``: a table of word vectors in the form of model2vec (``model.safetensors``, ``tokenizer.json``).

A text is the mean of its tokens' rows: no network is run, so it is by far the fastest and by far the simplest.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.model.errors import ServiceError
from ctxcli.model.ports import TextRole
from ctxcli.providers.embedding import unit_length
from ctxcli.providers.extras import needed
from ctxcli.providers.model_folder import file_in
from ctxcli.providers.weights import fingerprint

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1"}
_LONGEST_HEADER = 16 << 20


class StaticEmbedder:
    """The table of a folder; it is loaded at the first text."""

    is_local: bool = True

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._weights = file_in(folder, "model.safetensors")
        self._by = f"the model in {folder}"

    @cached_property
    def fingerprint(self) -> str:
        """Made from the table and the tokenizer."""
        return f"static/{fingerprint(self._weights, file_in(self._folder, 'tokenizer.json'))}"

    @cached_property
    def _tensors(self) -> dict[str, Any]:
        found = read_tensors(self._weights)
        if "embeddings" not in found or found["embeddings"].ndim != 2:
            raise ServiceError(f"{self._weights} holds no table of vectors", code="model_broken", hint=_HINT)
        return found

    @cached_property
    def _tokenizer(self) -> Any:
        library = needed("tokenizers", extra="static", by=self._by)
        path = file_in(self._folder, "tokenizer.json")
        try:
            tokenizer = library.Tokenizer.from_file(str(path))
        except Exception as error:  # it raises bare Exceptions
            raise ServiceError(f"{path} cannot be used: {error}", code="model_broken", hint=_HINT) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        """One row a text; asking and answering are the same to it."""
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return unit_length(np.stack([self._mean(one.ids) for one in encoded]))

    @cached_property
    def _unknown(self) -> int | None:
        model = json.loads(self._tokenizer.to_str())["model"]
        unknown = model.get("unk_token")
        found = self._tokenizer.token_to_id(unknown) if unknown else model.get("unk_id")
        return None if found is None else int(found)

    def _mean(self, ids: Sequence[int]) -> "Vectors":
        import numpy as np

        table = self._tensors["embeddings"]
        known = np.array([one for one in ids if one != self._unknown], dtype=np.int64)
        if not len(known):
            return np.zeros(table.shape[1], dtype=np.float32)
        mapping, weights = self._tensors.get("mapping"), self._tensors.get("weights")
        rows = np.asarray(table[mapping[known] if mapping is not None else known], dtype=np.float32)
        if weights is not None:
            rows = rows * np.asarray(weights[known], dtype=np.float32)[:, None]
        return np.asarray(rows.mean(axis=0), dtype=np.float32)


_HINT = "name a folder in the form of model2vec"


def read_tensors(path: Path) -> dict[str, Any]:
    """The arrays of a safetensors file by name, mapped into memory. ServiceError where it is none."""
    import numpy as np

    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 0 < length <= min(size - 8, _LONGEST_HEADER):
                raise ValueError("its header is damaged")
            header = dict(json.loads(stream.read(length)))
        found = {}
        for name, one in header.items():
            if name == "__metadata__":
                continue
            begin, end = one["data_offsets"]
            if not 0 <= begin <= end <= size - 8 - length:
                raise ValueError(f"{name} lies outside of it")
            array = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length + begin, shape=(end - begin,))
            found[name] = array.view(_TYPES[one["dtype"]]).reshape(one["shape"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ServiceError(f"{path} cannot be used: {error}", code="model_broken", hint=_HINT) from error
    return found
