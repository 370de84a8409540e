"""Commands made from the options that they take."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from microagg import wording
from microagg.settings.declared import (
    COLUMNS,
    CONFIDENTIAL,
    FILES,
    KINDS,
    METHOD,
    OUTPUT,
    POLICIES,
    options_of_command,
)
from microagg.settings.kinds import File, OfTwoFiles
from microagg.settings.options import REQUIRED, Option
from microagg.settings.replaced import REPLACED

_GROUPS = (COLUMNS, KINDS, POLICIES, CONFIDENTIAL, METHOD, FILES, OUTPUT)
_PATH = click.Path(readable=False)
"""Completed by shells; what cannot be read is refused by `read`, with a message of its own."""


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    help: str
    is_required: bool = True

    @property
    def metavar(self) -> str:
        return self.name.upper() if self.is_required else f"[{self.name.upper()}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a command is, but for its options: the settings have these."""

    name: str
    module: str = ""
    """Of this package, with a function of the command's name that gets what was given; by default that of
    the command's name.
    """
    summary: str
    """The first sentence of its help, and its line in the list of commands."""
    details: str = ""
    arguments: tuple[Argument, ...] = ()
    example: str
    """Lines that can be run where there is a file companies.csv."""


class Command(click.Command):
    """Its module is imported when it is run: help and completion need nothing large."""

    def __init__(self, about: Description) -> None:
        self.about = about
        self.options = options_of_command(about.name)
        arguments = [
            click.Argument([each.name], required=each.is_required, metavar=each.metavar, type=_PATH)
            for each in about.arguments
        ]
        may_have_plan = "plan" in self.options
        options = [_click_option(each, may_have_plan) for each in self.options.values()]
        super().__init__(
            about.name, params=[*arguments, *options], help=f"{about.summary}\n\n{about.details}"
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuses an option that takes one value and is given again, of which Click would take the last.

        That is so for the same value too, for such a line was hardly meant. A switch given again means
        nothing new, unless it has an opposite.
        """
        given = list(args)  # Click empties its list
        try:
            left = super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            name = unknown.option_name.lstrip("-").replace("-", "_")
            if name in REPLACED and REPLACED[name].by in self.options:
                raise REPLACED[name].refusal() from None
            raise
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for parameter, times in Counter(order).items():
            if times > 1 and _takes_one_value(parameter):
                raise wording.option_given_twice("/".join(parameter.opts))
        return left

    def invoke(self, ctx: click.Context) -> None:
        """Hand all that was given to the command's own function."""
        given: dict[str, Any] = {}
        for name in [str(parameter.name) for parameter in self.params]:
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                value = ctx.params[name]
                given[name] = self.options[name].kind.parse(name, value) if name in self.options else value
        module = import_module(f"microagg.cli.{self.about.module or self.about.name}")
        getattr(module, self.about.name.replace("-", "_"))(given)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options stand below the headings of their groups."""
        sections: dict[str, list[tuple[str, str]]] = {
            "Arguments": [(each.metavar, each.help) for each in self.about.arguments],
            **{group: [] for group in _GROUPS},
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            own = self.options.get(str(parameter.name))
            if record is not None and isinstance(parameter, click.Option):
                sections[own.group if own is not None else OUTPUT].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each line of the example stays a line, to be copied."""
        with formatter.section("Example"):
            for line in self.about.example.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Commands(click.Group):
    """Its help has the whole first sentence of each command, which Click would cut off."""

    def __init__(self, summary: str, descriptions: tuple[Description, ...]) -> None:
        super().__init__("microagg", help=summary, commands=[Command(each) for each in descriptions])
        self.summaries = [(each.name, each.summary) for each in descriptions]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, _ in self.summaries]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries)


def _click_option(option: Option, may_have_plan: bool) -> click.Option:
    """What is not given is left to whoever has the default: a plan may have another value."""
    kind = option.kind.of_one if isinstance(option.kind, OfTwoFiles) else option.kind
    is_switch, choices = kind.value_type is bool, option.kind.choices
    return click.Option(
        [*option.flags, option.name],
        type=_PATH if isinstance(kind, File) else kind.value_type,
        is_flag=is_switch,
        default=option.default if is_switch else None,
        multiple=option.kind.repeatable,
        required=option.default is REQUIRED and not may_have_plan,
        metavar=None if is_switch else kind.metavar,
        help=_help(option),
        shell_complete=(
            lambda _ctx, _parameter, typed: [each for each in choices if each.startswith(typed)]
        )
        if choices
        else None,
    )


def _help(option: Option) -> str:
    sentences = [option.help, option.kind.again]
    if option.has_default and not isinstance(option.default, bool):
        given = option.default
        shown = ",".join(map(str, given)) if isinstance(given, tuple) else given
        sentences.append(f"[default: {shown}]")
    return " ".join(filter(None, sentences))


def _takes_one_value(parameter: click.Parameter) -> bool:
    if not isinstance(parameter, click.Option) or parameter.multiple:
        return False
    return not parameter.is_flag or bool(parameter.secondary_opts)
