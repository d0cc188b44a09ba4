"""Section numbers in headings, and heading paths."""

import pytest

from ctxcli.parsing.sections import nest, split_number


@pytest.mark.parametrize(
    ("heading", "number", "title"),
    [
        ("6.3.2 Primary analysis", "6.3.2", "Primary analysis"),
        ("4.1. World State", "4.1", "World State"),
        ("V6.2 Password Security", "V6.2", "Password Security"),
        ("A.2 Tables", "A.2", "Tables"),
        ("Appendix B: Data", "Appendix B", "Data"),
        ("Chapter 11 Customizing", "Chapter 11", "Customizing"),
        ("第三章 总则", "第三章", "总则"),
        ("第十二条之一　附加", "第十二条之一", "附加"),
        ("（二）范围", "（二）", "范围"),
        ("一、编程规约", "一", "编程规约"),
        ("附录A 表", "附录A", "表"),
        ("§ 4 Delivery", "4", "Delivery"),
        ("IV. Results", "IV", "Results"),
        ("XII. END", "XII", "END"),
        ("2.1", "2.1", ""),
        ("2024 in review", "", "2024 in review"),
        ("3.5 mg daily", "", "3.5 mg daily"),
        ("iv. small", "", "iv. small"),
        ("Xi. a name", "", "Xi. a name"),
        ("MIX. A dance", "", "MIX. A dance"),
    ],
)
def test_a_heading_is_parted_into_number_and_title(heading: str, number: str, title: str) -> None:
    assert split_number(heading) == (number, title)


def test_a_path_holds_the_nearest_heading_of_each_smaller_level() -> None:
    sections = nest([(0, 1, "1 One", ""), (5, 3, "1.1.1 Deep", ""), (9, 2, "1.2 Two", "x"), (12, 1, "2 Next", "")])
    assert [section.path for section in sections] == [
        ("1 One",),
        ("1 One", "1.1.1 Deep"),
        ("1 One", "1.2 Two"),
        ("2 Next",),
    ]
    assert sections[2].anchor == "x"
