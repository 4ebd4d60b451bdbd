from __future__ import annotations

import pytest

from nic2core.describe.wrapping import evenly, parts, wrap


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("endpoint_target=25 us", ["endpoint_", "target=", "25 us"]),
        ("machine.llc.ways=12, beta=0.4", ["machine.", "llc.", "ways=", "12,", "beta=", "0.4"]),
        ("DDIO, 2 ways, Sweeper", ["DDIO,", "2 ways,", "Sweeper"]),
        ("control={ beta = 0.8 }", ["control=", "{", "beta", "=", "0.8 }"]),
        ("2,215", ["2,215"]),
        ("", [""]),
    ],
)
def test_numbers_and_words_stay_whole(text: str, whole: list[str]) -> None:
    assert parts(text) == whole


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (21, ["endpoint_target=25 us"]),
        (20, ["endpoint_target=", "25 us"]),
        (15, ["endpoint_", "target=25 us"]),
        (11, ["endpoint_", "target=", "25 us"]),
        # A part that is longer has a line of its own, and none is empty.
        (3, ["endpoint_", "target=", "25 us"]),
    ],
)
def test_a_name_is_broken_where_its_parts_end(width: int, lines: list[str]) -> None:
    assert wrap("endpoint_target=25 us", width).splitlines() == lines


def test_the_space_at_a_break_takes_no_room() -> None:
    assert wrap("DDIO, Sweeper", 5).splitlines() == ["DDIO,", "Sweeper"]


def test_a_word_is_not_broken_to_fill_a_line() -> None:
    text = "DDIO, 2 ways, Sweeper, rx_descriptors=512"
    assert wrap(text, 18).splitlines() == ["DDIO, 2 ways,", "Sweeper,", "rx_descriptors=512"]
    assert wrap(text, 16).splitlines() == ["DDIO, 2 ways,", "Sweeper,", "rx_descriptors=", "512"]


@pytest.mark.parametrize(
    ("count", "most", "rows"),
    [(5, 4, [3, 2]), (5, 2, [2, 2, 1]), (9, 4, [3, 3, 3]), (4, 4, [4]), (1, 8, [1])],
)
def test_rows_are_as_few_and_as_even_as_can_be(count: int, most: int, rows: list[int]) -> None:
    assert evenly(count, most) == rows
