"""What the conformance vectors don't reach: refusals, conversions, outputs and configurations."""

import struct
import unittest
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

from faucet_sdk import (
    ABSENT,
    ChangePageBuilder,
    Column,
    ConfigError,
    Error,
    Interval,
    Kind,
    Page,
    PageBuilder,
    Transform,
    to_iso,
    to_python,
)
from faucet_sdk.schema import check, with_defaults

MICROSECOND = timedelta(microseconds=1)


def page() -> Page:
    """Four rows, as the host would send them."""
    columns = [Column.of("id", "int64", [1, 2, 3, 4]), Column.of("name", "text", ["a", None, ABSENT, "ü"])]
    for index, column in enumerate(columns):
        column.index = index
    return Page("t", columns, ["id"])


class Columns(unittest.TestCase):
    """Values in and out of columns."""

    def refused(self, pattern: str, kind: str, *values: object) -> None:
        """Expects that no column of this kind can be made of the values."""
        with self.assertRaisesRegex(Error, pattern):
            Column.of("c", kind, values)

    def test_refuses_what_it_cannot_hold_exactly(self) -> None:
        """No value is changed silently."""
        self.refused("column 'c' is int64: it can't hold a number that large", "int64", 2**63)
        self.refused(r"column 'c' is int64: it takes no such float \(row 1\)", "int64", 1, 1.0)
        self.refused("large", "uint64", -1)
        self.refused("large", "float32", 1e39)
        self.refused(r"no such int \(row 0\)", "float64", 2**53 + 1)
        self.refused("no such float", "decimal", 1.5)
        self.refused("no such bool", "int64", None, True)
        self.refused("no such int", "boolean", 1)
        self.refused("surrogate", "text", "\ud83d")
        self.refused("no such datetime", "date", datetime(2024, 1, 1))
        self.refused("no such datetime", "timestamp", datetime(2024, 1, 1, tzinfo=UTC))
        self.refused("no such datetime", "timestamptz", datetime(2024, 1, 1))
        self.refused("does not say which type", "native", "1")

    def test_takes_pythons_own_types(self) -> None:
        """And gives them back."""
        zoned = datetime(2024, 2, 29, 12, 30, 0, 1, tzinfo=timezone(timedelta(hours=2)))
        cases = [
            ("date", date(1, 1, 1), -719162),
            ("time", time(23, 59, 59, 999999), 86_399_999_999),
            ("timestamp", datetime(9999, 12, 31, 23, 59, 59, 999999), 253402300799999999),
            ("timestamptz", zoned, 1709202600000001),
            ("interval", timedelta(days=-1, microseconds=5), Interval(0, -1, 5)),
            ("decimal", Decimal("-1E+3"), "-1000"),
            ("json", {"a": [1, "ü"]}, '{"a":[1,"ü"]}'),
        ]
        for kind, value, cell in cases:
            with self.subTest(kind):
                column = Column.of("c", kind, [value, None])
                self.assertEqual(column.values, [cell, None])
                self.assertEqual(column.python_values(), [value, None])
        self.assertEqual(Column.of("c", "decimal", [Decimal("NaN"), Decimal("-Infinity")]).values, ["NaN", "-Infinity"])
        self.assertEqual(Column.of("c", "uuid", ["0" * 31 + "1", bytes(16)]).values, [UUID(int=1), UUID(int=0)])

    def test_keeps_the_bits_of_floats(self) -> None:
        """Minus zero and the payload of NaN."""
        bits = struct.pack("<Q", 0x7FF8000000000BED)
        values = [struct.unpack("<d", bits)[0], -0.0]
        self.assertEqual(Column.of("c", "float64", values).data, bits + struct.pack("<d", -0.0))

    def test_says_which_python_type_is_missing(self) -> None:
        """Infinity has a text, and no `datetime`."""
        for kind, cell in [("timestamp", 2**63 - 1), ("date", 2**31 - 1), ("time", 86_400_000_000)]:
            with self.assertRaises(ValueError):
                to_python(Kind(kind), cell)
        self.assertEqual(Column.of("c", "timestamp", [-(2**63), None]).iso_values(), ["-infinity", None])

    def test_iso_text(self) -> None:
        """Against Python's own where Python has one."""
        for day in range(-719162, 2932896, 997):
            self.assertEqual(to_iso(Kind.DATE, day), date.fromordinal(day + 719163).isoformat())
        self.assertEqual(to_iso(Kind.DATE, -719529), "-0001-12-31")
        self.assertEqual(to_iso(Kind.DATE, 2932897), "+10000-01-01")
        self.assertEqual(to_iso(Kind.TIME, 86_400_000_000), "24:00:00")
        self.assertEqual(to_iso(Kind.TIMESTAMPTZ, -1), "1969-12-31T23:59:59.999999Z")
        self.assertEqual(to_iso(Kind.INTERVAL, Interval(14, -3, -4_500_000)), "P14M-3DT-4.5S")


class Pages(unittest.TestCase):
    """Pages, rows and outputs."""

    def test_rows(self) -> None:
        """Values, null and absent."""
        rows = list(page())
        self.assertEqual([row["name"] for row in rows], ["a", None, ABSENT, "ü"])
        self.assertEqual(rows[2].as_dict(), {"id": 3})
        self.assertIs(rows[0].get("other"), ABSENT)
        with self.assertRaisesRegex(Error, r"table 't' has no column 'other' \(it has id, name\)"):
            rows[0]["other"]

    def test_output(self) -> None:
        """Keeps, renames, filters and rejects."""
        source = page()
        source.reject(3, "no good")
        out = source.output().rename("id", "key").put("size", "int64", [1, 2, 3, 4]).keep(lambda row: row["id"] != 1)
        selection, columns = out.placed()
        self.assertEqual(selection, [1, 2])
        self.assertEqual([(column.name, column.index) for column in columns], [("key", 0), ("name", 1), ("size", None)])
        self.assertEqual(columns[2].values, [2, 3])
        self.assertIsNone(out.key)

    def test_repeat(self) -> None:
        """Repeated rows take columns of the output's length."""
        source = page()
        out = source.output().repeat([0, 0, 3]).put("at", "int64", [0, 1, 0])
        with self.assertRaisesRegex(Error, "has 4 values for 3 rows"):
            out.put("x", "int64", [1, 2, 3, 4])
        source.reject(3, "no")
        selection, columns = out.placed()
        self.assertEqual((selection, columns[2].values), ([0, 0], [0, 1]))
        with self.assertRaisesRegex(Error, "order of the page"):
            page().output().repeat([1, 0])

    def test_a_copied_key_column_does_not_move_the_key(self) -> None:
        """The host would take it for a renamed one."""
        source = page()
        self.assertEqual(source.output().set(source.column("id").named("copy")).key, ["id"])

    def test_builders(self) -> None:
        """What a row does not name is absent."""
        builder = PageBuilder("t", {"id": "int64", "range": "native:postgres:int4range"}, key=["id"])
        builder.append({"id": 1})
        built = builder.finish()
        self.assertEqual((built["range"].native, built["range"].values), ("postgres:int4range", [ABSENT]))
        with self.assertRaisesRegex(Error, "no column other"):
            builder.append({"other": 1})

    def test_changes(self) -> None:
        """What rows were before."""
        builder = ChangePageBuilder("t", {"id": "int64", "name": "text"}, key=["id"])
        builder.created({"id": 1, "name": "a"}, b"\0\1", 10)
        builder.deleted({"id": 1}, b"\0\2", datetime(1970, 1, 1, tzinfo=UTC) + 20 * MICROSECOND)
        built = builder.finish()
        self.assertEqual((built.ops, built.present, built.committed_at.values), (b"cd", b"\x02", [10, 20]))
        self.assertEqual([column[1] for column in built.before], [1, ABSENT])
        with self.assertRaisesRegex(Error, "same length"):
            builder.truncated(b"\0", 30)


class Configurations(unittest.TestCase):
    """Schemas."""

    schema = {
        "type": "object",
        "properties": {
            "mode": {"enum": ["a", "b"], "default": "a"},
            "rules": {
                "type": "array",
                "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}},
                "minItems": 1,
            },
        },
        "required": ["rules"],
        "additionalProperties": False,
    }

    def test_check(self) -> None:
        """Every problem, with its path."""
        wrong = {"mode": "c", "rules": [{"n": 0}, {"n": "x"}], "z": 1}
        self.assertEqual(
            list(check(self.schema, wrong)),
            [
                ("mode", "expected one of a, b"),
                ("rules[0].n", "must be at least 1"),
                ("rules[1].n", "expected a whole number, found text"),
                ("z", "there is no such setting; there is mode, rules"),
            ],
        )
        self.assertEqual(list(check(self.schema, {})), [("", "'rules' is missing")])
        self.assertEqual(with_defaults(self.schema, {"rules": []}), {"mode": "a", "rules": []})

    def test_a_component_says_all_problems_at_once(self) -> None:
        """In one exception."""

        class Any(Transform):
            """Does nothing"""

            name, version, schema = "any", "1", self.schema

        with self.assertRaises(ConfigError) as caught:
            Any.configured('{"rules": [], "z": 1}')
        self.assertEqual(len(caught.exception.problems), 2)
        self.assertEqual(Any.configured('{"rules": [{}]}').config, {"rules": [{}], "mode": "a"})


if __name__ == "__main__":
    unittest.main()
