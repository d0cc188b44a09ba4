"""Candidates in, ranked matches out; pure."""
