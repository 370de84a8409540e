"""Messages that name options in the terms of the face that shows them."""

from __future__ import annotations

import json
import keyword
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Face = Callable[[str, Any], str]
"""How a face writes an option, given its name and a value; `NAME` asks for its name alone."""

NAME = "<name>"
COMMAND = "microagg"
"""In the place of an option: its value is the name of a command."""

_START, _END = "\ue000", "\ue001"
"""Private-use characters, which `visible` lets through from no name in the data."""
_REFERENCE = re.compile(f"{_START}(.*?){_END}")


def use(option: str, value: object = None) -> str:
    """A reference to an option, or to one of its values, for the text of a message."""
    return f"{_START}{json.dumps([option, value])}{_END}"


def mention(option: str) -> str:
    """A reference to an option that was given somewhere: in a plan, on the command line, in Python."""
    return use(option, NAME)


def in_python(option: str, value: Any) -> str:
    """`effort="best"`."""
    if option == COMMAND:
        return on_command_line(option, value)
    name = f"{option}_" if keyword.iskeyword(option) else option
    if value in (None, NAME):
        return name
    return f"{name}={'True' if value is True else json.dumps(value, ensure_ascii=False)}"


def on_command_line(option: str, value: Any) -> str:
    """`--effort best`."""
    if option == COMMAND:
        return f"`microagg {value}`"
    if value == NAME:
        return option
    flag = f"-{option}" if len(option) == 1 else f"--{option.replace('_', '-')}"
    if value is None or value is True:
        return flag
    if isinstance(value, dict):
        texts = {
            column: "<".join(each) if isinstance(each, list) else each for column, each in value.items()
        }
        value = ",".join(f"{column}={each}" for column, each in texts.items())
    return f"{flag} {shlex.quote(str(value))}"


def on_pages(label: Callable[[str, Any], str | None]) -> Face:
    """“Strata with fewer than k records: merge”, where the control has a label."""

    def named(option: str, value: Any) -> str:
        own = label(option, None if value == NAME else value)
        return on_command_line(option, value) if own is None else f"“{own}”"

    return named


class _Shown:
    face: Face = staticmethod(in_python)


@contextmanager
def shown_by(face: Face) -> Iterator[None]:
    """Within it, messages of this process name options as this face does; otherwise as in Python."""
    before = _Shown.face
    _Shown.face = staticmethod(face)
    try:
        yield
    finally:
        _Shown.face = staticmethod(before)


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence for users. As text it names options as the face does that is running.

    `text` refers to options by `use`; `kind` is the name of the function of `wording` that made it, and
    `figures` are the names and numbers it was given.
    """

    text: str
    kind: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return _REFERENCE.sub(lambda found: _Shown.face(*json.loads(found[1])), self.text)


def options_in(message: Message) -> list[tuple[str, Any]]:
    """The options that a message proposes, each with the value to give it."""
    referred = (json.loads(found) for found in _REFERENCE.findall(message.text))
    return [(option, value) for option, value in referred if value not in (None, NAME)]


def message_of(error: BaseException) -> Message:
    """The message of an exception of microagg."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else Message(str(error))


def kind_of(error: BaseException) -> str:
    """Which refusal an exception is: the name of the function of `wording` that made it."""
    return message_of(error).kind
