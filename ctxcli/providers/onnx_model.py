"""A transformer in a folder: ``model.onnx`` and ``tokenizer.json``, run by onnxruntime.

Texts go through one by one. On a processor that is faster than batches, which pad each text to the longest; and a
quantised network scales a batch as a whole, so that a vector would depend on its neighbours.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.model.errors import ServiceError
from ctxcli.providers import model_folder
from ctxcli.providers.extras import needed
from ctxcli.storage.files import processors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_THREADS = 4


class OnnxModel:
    """A network and its tokenizer; loaded when it is made. ServiceError where it cannot be."""

    def __init__(self, folder: Path, *, max_tokens: int) -> None:
        by = f"the model in {folder}"
        runtime, tokenizers = (needed(name, extra="onnx", by=by) for name in ("onnxruntime", "tokenizers"))
        self.path = model_folder.onnx_file(folder)
        vocabulary = model_folder.file_in(folder, "tokenizer.json")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
            self._session = runtime.InferenceSession(
                str(self.path), _options(runtime), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both raise bare Exceptions of their own
            raise ServiceError(
                f"{by} cannot be used: {error}", code="model_broken", hint="fetch or export it again"
            ) from error
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()
        self._inputs = {one.name: "i4" if "int32" in one.type else "i8" for one in self._session.get_inputs()}

    def run(self, text: str, other: str | None = None) -> "tuple[NDArray[np.float32], int]":
        """The first output for a text, or for a pair: without the axis of the batch; and the number of tokens."""
        import numpy as np

        encoded = self._tokenizer.encode(text, other)
        whole = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
            "position_ids": list(range(len(encoded.ids))),
        }
        feed = {name: np.array([whole[name]], kind) for name, kind in self._inputs.items() if name in whole}
        try:
            output = self._session.run(None, feed)[0]
        except Exception as error:
            raise ServiceError(
                f"{self.path} cannot be run: {error}", code="model_broken", hint="fetch or export it again"
            ) from error
        return np.asarray(output[0], dtype=np.float32), len(encoded.ids)


def _options(runtime: Any) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = min(_THREADS, processors())
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # else threads that wait burn a core
    options.log_severity_level = 3
    return options
