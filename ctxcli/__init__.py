"""Notes and knowledge bases: cited answers or an honest refusal, offline, in Chinese and English."""

__version__ = "0.1.0"
