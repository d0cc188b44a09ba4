"""Terms, sentences, encodings and scripts of text; no document structure."""
