"""The records of the package and its command in docs/api are up to date. The stubs record the rest."""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Iterator

import pytest
import records

from sealcomb import _cli

MODULES = ("", ".algorithms", ".columns", ".exceptions", ".hazmat", ".keys", ".spark")


def lines(module: str) -> Iterator[str]:
    """Yields the public names: exceptions with their bases, all others with their parameters."""
    names = importlib.import_module(module)
    for name in sorted(names.__all__):
        item = getattr(names, name)
        if inspect.ismodule(item):
            yield f"module {module}.{name}"
        elif inspect.isclass(item) and issubclass(item, Exception):
            yield f"exception {module}.{name}: {', '.join(base.__name__ for base in item.__bases__)}"
        else:
            parameters = inspect.signature(item).parameters.values()
            bare = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
            yield f"{'class' if inspect.isclass(item) else 'def'} {module}.{name}{inspect.Signature(bare)}"


def test_the_public_names_are_recorded() -> None:
    records.check("python", [line for module in MODULES for line in lines(f"sealcomb{module}")], "python")


def help_texts(one: argparse.ArgumentParser) -> Iterator[str]:
    yield f"$ {one.prog} --help\n{one.format_help()}"
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from help_texts(below)


def test_the_help_of_every_verb_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    # Releases of Python break lines at different words.
    records.check("sealcomb-columns", list(help_texts(_cli.parser())), "help", reflow=True)
