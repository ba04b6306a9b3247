"""Why a call failed, in words a person can act on.

Never put a cell value or a secret into a message: it ends up in logs.
"""


class Error(Exception):
    """The page, or the call, can't be processed. Trying again would not help. The message is one sentence."""


class Unavailable(Error):
    """The other end can't answer now. The host tries again later, on a fresh instance."""


class Unsupported(Error):
    """The component does not offer this."""


class ConfigError(Error):
    """The configuration can't be used.

    `path` is dotted from the start of the configuration (`columns.email.method`, `fields[0]`), and empty for all of it.
    """

    def __init__(self, path: str, message: str) -> None:
        self.problems: list[tuple[str, str]] = [(path, message)]
        super().__init__(path, message)

    @classmethod
    def of(cls, problems: list[tuple[str, str]]) -> "ConfigError":
        """Everything that is wrong at once, as (path, message), so that a user can mend all of it."""
        error = cls(*problems[0])
        error.problems = list(problems)
        return error

    def __str__(self) -> str:
        return "; ".join(f"{path}: {message}" if path else message for path, message in self.problems)
