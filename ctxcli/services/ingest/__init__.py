"""From paths to the index writer: what changed, the worker processes that read it, one run."""
