"""Between the SDK's classes and the generated bindings, which exist only inside a component."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps

from componentize_py_types import Err
from wit_world.imports import types

from .about import Component, Wants
from .column import Column
from .errors import ConfigError, Error, Unavailable, Unsupported
from .host import report
from .kind import Kind
from .output import PageOut
from .page import Page

_KINDS = {wire: Kind(wire.name.lower()) for wire in types.Kind}
_WIRE_KINDS = {kind: wire for wire, kind in _KINDS.items()}


def guarded(call: Callable) -> Callable:
    """Turns every exception of an exported function into the error it stands for, so that none ends the instance."""

    @wraps(call)
    def guard(*args):
        try:
            return call(*args)
        except BaseException as error:  # SystemExit too: it would end the instance.
            raise Err(_wire_error(error)) from None

    return guard


def _wire_error(error: BaseException):
    if isinstance(error, ConfigError):
        return types.Error_InvalidConfig([types.Problem(path, message) for path, message in error.problems])
    if isinstance(error, Unavailable):
        return types.Error_Unavailable(str(error))
    if isinstance(error, Unsupported):
        return types.Error_Unsupported(str(error))
    if isinstance(error, Error):
        return types.Error_Failed(str(error))
    return types.Error_Failed(report(error))


def described(component: type[Component]) -> tuple:
    """The fields that every description starts with."""
    return component.name, component.version, component.summary(), json.dumps(component.schema)


def wants_out(wants: Wants) -> types.Wants:
    """A `wants` record."""
    dirs = [types.WantedDir(name, False) for name in wants.dirs]
    dirs += [types.WantedDir(name, True) for name in wants.write_dirs]
    return types.Wants(list(wants.http), dirs, list(wants.env), list(wants.secrets), wants.clock, wants.random)


def page_in(page: types.Page) -> Page:
    """A page that the host sent."""
    columns = [_column_in(column, page.rows, index) for index, column in enumerate(page.columns)]
    return Page(page.table.name, columns, page.key, schema=page.table.schema, rows=page.rows)


def _column_in(column: types.Column, rows: int, index: int) -> Column:
    kind = _KINDS[column.kind]
    buffers = (column.validity, column.absent, column.offsets, column.data)
    return Column(column.name, kind, column.native, rows, *buffers, index=index)


def column_out(column: Column) -> types.Column:
    """A column with its buffers."""
    kind = _WIRE_KINDS[column.kind]
    return types.Column(column.name, kind, column.native, column.validity, column.absent, column.offsets, column.data)


def page_out(page: Page) -> types.Page:
    """A whole page, with the buffers of every column."""
    table = types.TableId(page.schema, page.table)
    return types.Page(table, page.row_count, page.key, [column_out(column) for column in page.columns])


def output(page: Page, outs: list[PageOut]) -> types.Output:
    """The answer of a transform."""
    pages = [_changed_page_out(page, out) for out in outs]
    return types.Output(pages, rejects(page))


def rejects(page: Page, first: int = 0) -> list[types.Reject]:
    """The rejected rows of a page whose rows are counted from `first`."""
    return [types.Reject(first + row, reason) for row, reason in sorted(page.rejected.items())]


def _changed_page_out(page: Page, out: PageOut) -> types.PageOut:
    selection, columns = out.placed()
    table = None if out.table is None else types.TableId(out.schema, out.table)
    rows = page.row_count if selection is None else len(selection)
    picked = None if selection is None else b"".join(row.to_bytes(4, "little") for row in selection)
    return types.PageOut(table, rows, picked, out.key, [_placed_out(page, column) for column in columns])


def _placed_out(page: Page, column: Column):
    if column.index is None:
        return types.ColumnOut_Buffers(column_out(column))
    is_renamed = page.columns[column.index].name != column.name
    return types.ColumnOut_Input(types.Kept(column.index, column.name if is_renamed else None))
