"""What the host offers to every component: its log, metrics, and the names of secrets.

In a native test there is no host: messages go to standard error, and metrics nowhere.
"""

import logging
import re
import sys
import traceback

try:
    from wit_world.imports import host as _host
except ImportError:
    _host = None


def log(level: str, message: str) -> None:
    """Writes a line to the host's log: `debug`, `info`, `warn` or `error`. Never log a cell value or a secret."""
    if _host is None:
        print(f"{level}: {message}", file=sys.stderr)
    else:
        _host.log(_host.Level[level.upper()], message)


def count(metric: str, by: int = 1) -> None:
    """Adds to a counter of the component, `[a-z0-9_]+`."""
    if _host is not None:
        _host.count(metric, by)


def gauge(metric: str, value: float) -> None:
    """Sets a gauge of the component, `[a-z0-9_]+`."""
    if _host is not None:
        _host.gauge(metric, value)


def secrets() -> list[str]:
    """Names of the secrets the component may use. It never sees their values: where a header or the path of an HTTP
    request contains `${secret:NAME}`, the host puts the value there."""
    return [] if _host is None else _host.secrets()


def report(error: BaseException) -> str:
    """Writes an unexpected exception and where it came from to the log, and gives its message without values."""
    message = f"{type(error).__name__}: {_without_values(error)}"
    log("error", f"{message}\n{''.join(traceback.format_tb(error.__traceback__))}".rstrip())
    return message


def _without_values(error: BaseException) -> str:
    """Python quotes the value that it could not convert or find, and a cell value must not reach a log."""
    if isinstance(error, (ValueError, LookupError)):
        return re.sub(r"""(['"]).*\1""", "'...'", str(error), flags=re.DOTALL)
    return str(error)


class LogHandler(logging.Handler):
    """Sends what goes through Python's `logging` to the host's log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one record."""
        names = {"DEBUG": "debug", "INFO": "info", "WARNING": "warn"}
        log(names.get(record.levelname, "error"), self.format(record))


def take_over_logging() -> None:
    """Makes Python's `logging` write to the host's log; which levels are shown is for the host to say."""
    logging.basicConfig(handlers=[LogHandler()], level=logging.DEBUG, format="%(message)s", force=True)
