"""Which cells of a spreadsheet are shown as per cent: the file holds 0.153 and a format, people read 15.3%."""

import re

from ctxcli.parsing.ooxml import Element, Package, local

_BUILT_IN = frozenset({"9", "10"})
_QUOTED = re.compile(r'"[^"]*"|\\.')
_CELL = re.compile(rb"<c\s([^>]*)>")
_STYLE = re.compile(rb'\bs="([0-9]{1,7})"')
_PLACE = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')


def percent_styles(package: Package) -> frozenset[bytes]:
    """The numbers of the cell styles that show per cent."""
    root = package.xml("xl/styles.xml")
    if root is None:
        return frozenset()
    named = {
        one.get("numFmtId", "")
        for one in root.iter()
        if local(one) == "numFmt" and "%" in _QUOTED.sub("", one.get("formatCode", ""))
    }
    styles = next((one for one in root if local(one) == "cellXfs"), Element("none"))
    formats = (style.get("numFmtId", "") for style in styles)
    return frozenset(str(at).encode() for at, one in enumerate(formats) if one in _BUILT_IN or one in named)


def cells_of(sheet: bytes, styles: frozenset[bytes]) -> frozenset[tuple[int, int]]:
    """Row and column (from 0) of the cells of a worksheet part that have one of the styles."""
    found: set[tuple[int, int]] = set()
    for cell in _CELL.finditer(sheet) if styles else ():
        style, place = _STYLE.search(cell[1]), _PLACE.search(cell[1])
        if style and place and style[1] in styles:
            found.add((int(place[2]) - 1, _column(place[1])))
    return frozenset(found)


def parts_of_sheets(package: Package) -> dict[str, str]:
    """The names of the sheets by the parts that hold them."""
    relations = package.relations("")
    main = next((to for kind, to in relations.values() if kind == "officeDocument"), "xl/workbook.xml")
    root, targets = package.xml(main), package.relations(main)
    found: dict[str, str] = {}
    for sheet in root.iter() if root is not None else ():
        if local(sheet) == "sheet":
            key = next((value for name, value in sheet.items() if name.endswith("}id")), "")
            found[targets.get(key, ("", ""))[1]] = sheet.get("name", "")
    return found


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1
