"""How every command reads its options."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from microagg import wording


class Command(TyperCommand):
    """Refuses an option that takes one value and is given again: the parser would keep the last silently.

    That is so for the same value too, for such a line was hardly meant. A switch given again says nothing
    new, unless it has an opposite.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments that are left, as Typer wants it."""
        given = list(args)  # the parser empties its list
        left = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for option, times in Counter(order).items():
            if times > 1 and _takes_one_value(option):
                raise wording.option_given_twice("/".join(option.opts))
        return left


def _takes_one_value(option: Any) -> bool:
    if not isinstance(option, TyperOption) or option.multiple:
        return False
    return not option.is_flag or bool(option.secondary_opts)
