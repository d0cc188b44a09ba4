"""Rerankers behind the port `Reranker`; each module is imported when its model is asked for."""
