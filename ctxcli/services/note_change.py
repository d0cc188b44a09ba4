"""A note file changed: the bytes before and after, nothing but what was named different."""

from datetime import datetime

from ctxcli.model.errors import DataError, UsageError
from ctxcli.parsing import front_matter_patch, yaml_text
from ctxcli.parsing import notes as parsing
from ctxcli.parsing.notes import NoteText, ParsedNote
from ctxcli.services.notes import NoteChange


def changed(data: bytes, change: NoteChange, *, path: str) -> bytes:
    """The bytes of a note after a change; DataError where its front matter or its encoding forbids one."""
    text = parsing.decode(data)
    parsed = parsing.parse(text.text, "")
    check_writable(text, parsed, path)
    body = _with_content(text.text, parsed, change)
    return _encoded(text, with_fields(body, parsed, _fields(parsed, change), path), path)


def touched(data: bytes, before: bytes) -> bytes:
    """The bytes of a note that was edited by hand: `updated_at` moves, unless that was edited too."""
    text = parsing.decode(data)
    parsed, old = parsing.parse(text.text, ""), parsing.parse(parsing.decode(before).text, "")
    if parsed.problem or not text.exact or parsed.updated != old.updated or "updated_at" not in parsed.keys:
        return data
    try:
        return text.encode(with_fields(text.text, parsed, _fields(parsed, NoteChange()), ""))
    except DataError:
        return data


def check_writable(text: NoteText, parsed: ParsedNote, path: str) -> None:
    """DataError for a note that must not be written: its front matter or its encoding cannot be read surely."""
    if parsed.problem:
        raise DataError(
            f"{path}:{parsed.problem.line}: the front matter cannot be read: {parsed.problem.message}",
            code="broken_front_matter",
            hint="mend it by hand, or see what ctx proposes: ctx note check --fix",
        )
    if not text.exact:
        raise DataError(
            f"{path}: its encoding cannot be told surely, so it is not written",
            code="unsure_encoding",
            hint="save it as UTF-8",
        )


def _with_content(text: str, parsed: ParsedNote, change: NoteChange) -> str:
    if change.content is not None and change.append is not None:
        raise UsageError("a new content and a text to append do not go together", hint="leave one of them out")
    if change.content is not None:
        return parsing.replace_content(text, parsed.span, change.content)
    if change.append is not None:
        return parsing.append_content(text, parsed.span, change.append)
    return text


def _fields(parsed: ParsedNote, change: NoteChange) -> dict[str, str | tuple[str, ...]]:
    """The keys to set. A note that bears no id of ctx and no time gets no time: its file has one."""
    fields: dict[str, str | tuple[str, ...]] = {}
    if change.title is not None:
        fields["title"] = change.title
    if change.type is not None:
        fields["type"] = change.type
    tags = _tags(parsed, change)
    if tags is not None:
        fields["tag" if "tag" in parsed.keys and "tags" not in parsed.keys else "tags"] = tags
    if ("updated_at" in parsed.keys or parsed.id) and "updated_at" not in parsed.unread:
        fields["updated_at"] = datetime.now().astimezone().isoformat(timespec="milliseconds")
    return fields


def _tags(parsed: ParsedNote, change: NoteChange) -> tuple[str, ...] | None:
    if change.tags is None and not change.add_tags and not change.remove_tags:
        return None
    base = parsed.tags if change.tags is None else change.tags
    gone = {tag.casefold() for tag in change.remove_tags}
    kept = [tag for tag in base if tag.casefold() not in gone]
    there = {tag.casefold() for tag in kept}
    wanted = (*kept, *(tag for tag in change.add_tags if tag.casefold() not in there))
    return None if wanted == parsed.tags and "tags" not in parsed.unread else wanted


def with_fields(text: str, parsed: ParsedNote, fields: dict[str, str | tuple[str, ...]], path: str) -> str:
    """The text with keys set in its front matter; DataError where that cannot be done surely."""
    if not fields:
        return text
    span = parsed.span
    if not span.present:
        block = "".join(f"{key}: {yaml_text.value(one)}{span.newline}" for key, one in fields.items())
        above = "" if text[span.body :].startswith(("\n", "\r")) or not text[span.body :] else span.newline
        return f"{text[: span.body]}---{span.newline}{block}---{span.newline}{above}{text[span.body :]}"
    try:
        block = front_matter_patch.patch(text[span.block : span.block_end], fields, newline=span.newline)
    except front_matter_patch.CannotPatchError as error:
        raise DataError(
            f"{path}:{error.line + 2}: the front matter cannot be changed: {error}",
            code="cannot_patch",
            hint="edit it by hand",
        ) from None
    return text[: span.block] + block + text[span.block_end :]


def _encoded(text: NoteText, new: str, path: str) -> bytes:
    try:
        return text.encode(new)
    except UnicodeEncodeError:
        raise DataError(
            f"{path} is written in {text.encoding}, which does not have all of these characters",
            code="encoding",
            hint="save it as UTF-8",
        ) from None
