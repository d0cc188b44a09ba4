"""Tables that ship with the package; LICENSES.md says where they come from."""

import os.path


def read(name: str) -> str:
    """The text of a table; without importlib.resources, which costs more than all else at a cold start."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as table:  # noqa: PTH118, PTH120, PTH123
        return table.read()
