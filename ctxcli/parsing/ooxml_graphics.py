"""Charts and diagrams of Office documents: parts of their own that the text only points to."""

from collections.abc import Iterator, Mapping

from ctxcli.parsing.ooxml import Element, Package, TextBuilder, local, number_text

RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"


def pointer(element: Element) -> str:
    """The id of the relation that an element points to, if it stands for a chart or a diagram, else ""."""
    kind = local(element)
    if kind == "chart":
        return element.get(f"{RELATIONS}id", "")
    return element.get(f"{RELATIONS}dm", "") if kind == "relIds" else ""


def pointers(parent: Element) -> Iterator[str]:
    """The ids of all charts and diagrams below an element, in order."""
    return filter(None, map(pointer, parent.iter()))


def add(package: Package, relation: tuple[str, str], builder: TextBuilder) -> None:
    """Add what a chart or a diagram says: its title and a table of its figures, or its texts as items."""
    kind, target = relation
    root = package.xml(target) if kind in {"chart", "diagramData"} else None
    if root is None:
        return
    if kind == "chart":
        _chart(root, builder)
    else:
        for point in root.iter(f"{_D}pt"):
            builder.add("item", _words(point))


def _chart(root: Element, builder: TextBuilder) -> None:
    title = root.find(f"{_C}chart/{_C}title")
    builder.add("prose", _words(title) if title is not None else "")
    names: list[str] = []
    columns: list[Mapping[int, str]] = []
    labels: dict[int, str] = {}
    for series in root.iter(f"{_C}ser"):
        name = series.find(f"{_C}tx")
        names.append("".join(value.text or "" for value in name.iter(f"{_C}v")) if name is not None else "")
        labels = _points(series, "cat", "xVal") | labels
        columns.append(_points(series, "val", "yVal"))
    if not columns:
        return
    if any(names):
        builder.add("header_row", " | ".join(["", *names]).strip() if labels else " | ".join(names))
    for place in sorted(labels.keys() | set().union(*columns)):
        cells = [column.get(place, "") for column in columns]
        builder.add("row", " | ".join([labels.get(place, ""), *cells] if labels else cells))


def _points(series: Element, *kinds: str) -> dict[int, str]:
    """The saved values of a series by their place."""
    found: dict[int, str] = {}
    for kind in kinds:
        values = series.find(f"{_C}{kind}")
        for point in values.iter(f"{_C}pt") if values is not None else ():
            place = point.get("idx", "")
            if place.isascii() and place.isdigit():
                texts = [value.text or "" for value in point.iter(f"{_C}v")]
                found.setdefault(int(place), number_text("".join(texts)))
    return found


def _words(parent: Element) -> str:
    return " ".join("".join(part.text or "" for part in line.iter(f"{_A}t")) for line in parent.iter(f"{_A}p")).strip()
