"""Tables that ship with the package; LICENSES.md says where they come from.

They are read without importlib.resources, which costs more than all else at a cold start.
"""

import os.path


def read(name: str) -> str:
    """The text of a table."""
    return read_bytes(name).decode("utf-8").replace("\r\n", "\n")


def read_bytes(name: str) -> bytes:
    """The bytes of a table."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as table:  # noqa: PTH118, PTH120, PTH123
        return table.read()
