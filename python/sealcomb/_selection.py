"""The columns that the command ``sealcomb-columns`` processes, as its options name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import pyarrow as pa  # type: ignore[import-untyped]

from sealcomb._files import BAD_COMMAND, CommandError, Source
from sealcomb._metadata import TYPE_KEY, origin_of
from sealcomb._nested import Path, leaf_at, leaves
from sealcomb._types import holds_bytes, is_text, plain_type

SEVERAL = (
    "the context must contain {column} if there are several columns, so that values cannot be exchanged: "
    "use --context 'people.{column}', for example"
)


@dataclass(frozen=True)
class Target:
    """A leaf to process: its column, its path below it, its context, and the type that options give it."""

    column: str
    path: Path = ()
    context: str = ""
    as_type: pa.DataType | None = None

    @property
    def name(self) -> str:
        return full_name(self.column, self.path)


@dataclass(frozen=True)
class Selection:
    """The options that select columns.

    ``types`` are pairs of a name or pattern, or ``None`` for all columns, and a type. ``plain`` names the
    columns and leaves that were never sealed.
    """

    names: Sequence[str]
    everything: bool
    context: str
    row_id: str | None
    types: Sequence[tuple[str | None, pa.DataType]] = ()
    plain: Sequence[str] = ()

    def targets(self, source: Source, verb: str) -> list[Target]:
        """Returns the selected leaves of a file.

        Raises:
            CommandError: A name matches no column, or several, or the columns need different contexts, a
                type is for no selected column, or a leaf to open is not sealed.
        """
        file, schema = str(source.path), source.schema
        if self.row_id is not None:
            check_name(file, schema, self.row_id)
            self._check_row_id_type(source, self.row_id)
        found: dict[tuple[str, Path], str] = {}
        for name in self.names:
            matches = list(self._named(schema, name))
            if not matches:
                check_name(file, schema, name)
            for column, path, named in matches:
                check_name(file, schema, column)
                found.setdefault((column, path), named)
        if self.everything:
            found = {at: named for at, named in self._all(source, verb) if at[0] != self.row_id}
        plain = self._plain(source)
        found = {at: named for at, named in found.items() if at not in plain}
        if not found:
            sealed = "" if verb == "seal" else " that are sealed"
            raise CommandError(f"{file}: there are no columns{sealed}; name them with --column")
        if self.row_id in {column for column, _ in found}:
            raise CommandError(
                f"--row-id {self.row_id}: the row ids must be in a column that is not processed", BAD_COMMAND
            )
        if len(set(found.values())) > 1 and "{column}" not in self.context:
            raise CommandError(SEVERAL, BAD_COMMAND)
        check_distinct(file, schema, found, verb)
        if verb != "seal":
            check_sealed(source, found, everything=self.everything)
        self._check_types(file, found)
        return [self._target(column, path, named) for (column, path), named in found.items()]

    def _check_types(self, file: str, found: Mapping[tuple[str, Path], str]) -> None:
        """Raises ``CommandError`` for a type with a name of no selected leaf."""
        for name, kind in self.types:
            if name != self.row_id and not any(
                is_for(name, full_name(column, path), named) for (column, path), named in found.items()
            ):
                selected = ", ".join(full_name(column, path) for column, path in found)
                raise CommandError(
                    f"{file}: --as-type {name}={kind}: no selected column has this name; these are selected: "
                    + selected
                )

    def _check_row_id_type(self, source: Source, row_id: str) -> None:
        """Raises ``CommandError`` for a type that is not that of the row ids, which only CSV lacks."""
        given, kind = self.row_id_type, plain_type(source.schema.field(row_id).type)
        if given is None or source.text or plain_type(given) == kind or (is_text(given) and is_text(kind)):
            return
        # Integers of any size are the same ids.
        if not (pa.types.is_integer(given) and pa.types.is_integer(kind)):
            raise CommandError(
                f"{source.path}: column {row_id!r}: its type is {kind}; --as-type {given} would not change it"
            )

    @property
    def row_id_type(self) -> pa.DataType | None:
        """The type that the options give the row ids by their name."""
        kinds = [kind for name, kind in self.types if name is not None and name == self.row_id]
        return kinds[-1] if kinds else None

    def _named(self, schema: pa.Schema, name: str) -> Iterable[tuple[str, Path, str]]:
        """Yields the leaves that a name or pattern selects, and what each is named by."""
        for field in schema:
            for path, _ in leaves(field):
                full = ".".join((field.name, *path))
                # Not a prefix of the column's own name, which can contain dots.
                if full == name or (name.startswith(field.name) and full.startswith(name + ".")):
                    yield field.name, path, name
                elif is_pattern(name) and fnmatchcase(full, name) and field.name != self.row_id:
                    yield field.name, path, full

    def _plain(self, source: Source) -> set[tuple[str, Path]]:
        """Returns the leaves that were never sealed, as the options say.

        Raises:
            CommandError: A name matches no column, or a leaf that the metadata calls sealed.
        """
        file, schema = str(source.path), source.schema
        found = set()
        for name in self.plain:
            matches = [(column, path) for column, path, _ in self._named(schema, name)]
            if not matches or is_pattern(name):
                check_name(file, schema, name)
            for column, path in matches:
                if is_marked(schema, column, path):
                    raise CommandError(f"{file}: --plain {name}: {full_name(column, path)!r} is sealed")
            found.update(matches)
        return found

    def _all(self, source: Source, verb: str) -> Iterable[tuple[tuple[str, Path], str]]:
        """Yields all leaves of a file; to seal, those that are not sealed, as the metadata says.

        To open, the metadata does not decide, because anybody who can write to the file can change it.
        """
        schema = source.schema
        # At once, since looking up each name would take quadratic time.
        for name, count in Counter(schema.names).items():
            if count > 1:
                check_name(str(source.path), schema, name)
        for field in schema:
            for path, _ in leaves(field):
                if verb != "seal" or not is_marked(schema, field.name, path):
                    yield (field.name, path), full_name(field.name, path)

    def _target(self, column: str, path: Path, named: str) -> Target:
        full = full_name(column, path)
        context = self.context.replace("{column}", named)
        rest = full[len(named) + 1 :]
        context = f"{context}.{rest}" if context and rest else context or rest
        kinds = [kind for name, kind in self.types if is_for(name, full, named)]
        return Target(column, path, context, kinds[-1] if kinds else None)


def full_name(column: str, path: Path) -> str:
    return ".".join((column, *path))


def is_marked(schema: pa.Schema, column: str, path: Path) -> bool:
    """Returns whether the metadata of a file calls a leaf sealed."""
    metadata = leaf_at(schema.field(column), path).metadata or {}
    return TYPE_KEY in metadata or origin_of(schema, column, path) is not None


def check_sealed(source: Source, selected: Iterable[tuple[str, Path]], *, everything: bool) -> None:
    """Raises ``CommandError`` for leaves to open that are not bytes, as sealed values are."""
    if source.text:
        return
    types = {at: leaf_at(source.schema.field(at[0]), at[1]).type for at in selected}
    wrong = [(full_name(*at), kind) for at, kind in types.items() if not holds_bytes(kind)]
    if everything and len(wrong) == len(types):
        raise CommandError(f"{source.path}: there are no columns that are sealed; name them with --column")
    if wrong:
        (name, kind), more = wrong[0], f", and {len(wrong) - 1} more are not" if wrong[1:] else ""
        raise CommandError(
            f"{source.path}: column {name!r} is not sealed{more}: its type is {kind}. Somebody may have "
            f"replaced it. If it never was, pass --plain {name!r}, or name the sealed columns with --column"
        )


def is_for(name: str | None, full: str, named: str) -> bool:
    """Returns whether a type with this name is for a leaf, which the options call ``named``."""
    return name is None or name in (full, named) or fnmatchcase(full, name)


def is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[")


def check_name(file: str, schema: pa.Schema, name: str) -> None:
    """Raises ``CommandError`` for a column that the file does not have exactly once."""
    if schema.names.count(name) != 1:
        found = schema.names.count(name) or "no"
        raise CommandError(
            f"{file}: {found} columns are named {name!r}; the file has {', '.join(schema.names)}"
        )


def check_distinct(file: str, schema: pa.Schema, selected: Collection[tuple[str, Path]], verb: str) -> None:
    """Raises ``CommandError`` if the name of a selected leaf is also that of another one.

    Sealing would bind both to one context, so that their values could be exchanged. If they are sealed, they
    can be opened, unless only the file's metadata describes them: by their name.
    """
    by_name: dict[str, list[tuple[str, Path, pa.Field]]] = {}
    for field in schema:
        for path, leaf in leaves(field):
            by_name.setdefault(".".join((field.name, *path)), []).append((field.name, path, leaf))
    for column, path in selected:
        name = ".".join((column, *path))
        same = by_name[name]
        places = {(column, path) for column, path, _ in same}
        described = all(TYPE_KEY in (leaf.metadata or {}) for *_, leaf in same)
        ambiguous = len(places) < len(same) or (places <= set(selected) and not described)
        if len(same) > 1 and (verb == "seal" or ambiguous):
            raise CommandError(f"{file}: two columns are named {name!r}; rename one")
