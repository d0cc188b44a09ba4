"""The examples in docstrings run, and the package's public names are there."""

import doctest
from importlib import import_module

import pytest

import ctxcli


@pytest.mark.parametrize(
    "name",
    [
        "ctxcli.text.tokens",
        "ctxcli.packing.memory",
        "ctxcli.packing.tool_result",
        "ctxcli.services.context",
    ],
)
def test_the_examples_run(name: str) -> None:
    done = doctest.testmod(import_module(name))
    assert done.attempted > 0
    assert done.failed == 0


@pytest.mark.parametrize("name", ctxcli.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(ctxcli, name) is not None
    assert name in dir(ctxcli)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        ctxcli.Nothing  # noqa: B018
