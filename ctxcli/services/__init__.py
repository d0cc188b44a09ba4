"""Use cases: request in, result value out; no printing."""
