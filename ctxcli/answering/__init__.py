"""From ranked chunks to an answer with citations, or a refusal; pure."""
