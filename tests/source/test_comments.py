"""Which rows a comment speaks for."""

from __future__ import annotations

import pytest

from distlint.source.comments import Scan


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x = 1  # c\n", [1]),
        ("# c\nx = 1\n", [1, 2]),
        ("# c\n\n# d\nx = 1\n", [1, 2, 3, 4]),
        ("f(\n    1,  # c\n)\n", [1, 2, 3]),
        ("f(\n    # c\n    1,\n)\n", [1, 2, 3, 4]),
        ("# c\nf(\n    1,\n)\n", [1, 2, 3, 4]),
        ("if x:  # c\n    y()\n", [1]),
        ("if x:\n    # c\n    y()\nz()\n", [2, 3]),
        ("x = '''\n'''  # c\n", [1, 2]),
        ("x = 1 + \\\n    2  # c\n", [1, 2]),
        ("# c\n@d\n@e(\n)\ndef f():\n    pass\n", [1, 2, 3, 4, 5]),
        ("@d  # c\ndef f():\n    pass\n", [1]),
        ("x = 1\n# c\n", [2]),
        ("x = 1\r\n# c\r\ny = 1\r\n", [2, 3]),
        ("x = 1\r# c\ry = 1\r", [2, 3]),
        ("# c\nx = (", [1]),
        ("# c\nx = $\n", [1, 2]),
    ],
)
def test_rows(text: str, rows: list[int]) -> None:
    assert list(Scan(text).comments[0].rows) == rows


def test_a_string_is_no_comment() -> None:
    assert Scan("x = '# c'\ny = '''\n# d\n'''\n").comments == []
