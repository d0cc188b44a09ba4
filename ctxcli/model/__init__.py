"""Frozen values and ports; no I/O and no third party."""
