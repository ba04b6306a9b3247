"""Write faucet transforms, sources and sinks in Python.

A component is a class and a line that exports it; see `Transform`, `Source` and `Sink`. What to know:

- A page is one table's rows in columns. Columns that a transform does not touch never leave the host.
- Absent (`ABSENT`) is not null (`None`). Keep both as they are unless the transform's meaning needs otherwise.
- Rows of a change-data source carry `__op`. Let it, and the rows `d` and `t`, through.
- Raise `ConfigError` for a configuration that can't be used and `Error` for a page that can't be processed. The message
  of any other exception reaches the user too, without what it quotes of a value, and its stack goes to the log.
"""

from .about import Component, Wants, export
from .changes import ChangePage, ChangePageBuilder
from .column import Column, ColumnBuilder
from .convert import to_python
from .errors import ConfigError, Error, Unavailable, Unsupported
from .host import count, gauge, log, secrets
from .iso import to_iso
from .kind import Kind
from .output import PageOut
from .page import OP_COLUMN, Page, PageBuilder
from .row import Row
from .sink import Sink, SinkCapabilities
from .source import Batch, Bookmark, Discovered, Source, SourceCapabilities
from .transform import Transform
from .values import ABSENT, Interval, is_present

__all__ = [
    "ABSENT",
    "Batch",
    "Bookmark",
    "ChangePage",
    "ChangePageBuilder",
    "Column",
    "ColumnBuilder",
    "Component",
    "ConfigError",
    "Discovered",
    "Error",
    "Interval",
    "Kind",
    "OP_COLUMN",
    "Page",
    "PageBuilder",
    "PageOut",
    "Row",
    "Sink",
    "SinkCapabilities",
    "Source",
    "SourceCapabilities",
    "Transform",
    "Unavailable",
    "Unsupported",
    "Wants",
    "count",
    "export",
    "gauge",
    "is_present",
    "log",
    "secrets",
    "to_iso",
    "to_python",
]
