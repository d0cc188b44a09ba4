"""Bytes in, documents and chunks out; no paths."""
