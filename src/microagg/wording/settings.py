"""Options and settings of methods that cannot be, memory that does not suffice, and bugs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from microagg.errors import ContractError, NotEnoughMemory, SettingsError
from microagg.wording.message import option_name, use
from microagg.wording.phrases import count, listed, nearest_names


def k_not_integer(kind: str) -> SettingsError:
    return SettingsError(f"k is of type {kind}; it must be a whole number of at least 2, such as 3.")


def k_too_small(k: int) -> SettingsError:
    return SettingsError(
        f"k is {k}; it must be at least 2, so that several records share their released values. Use 3 or "
        "more."
    )


def k_above_n(k: int, n: int) -> SettingsError:
    remedy = f"Use a k of at most {n}, or more records." if n >= 3 else f"Give at least {k} records."
    return SettingsError(
        f"k is {k}, but the data have only {count(n, 'record')}; a group needs at least k records. {remedy}"
    )


def unknown_method(name: str, known: Iterable[str]) -> SettingsError:
    return SettingsError(
        f"There is no method '{name}'{nearest_names(name, known)}. `microagg methods` lists all of them."
    )


def empty_method(method: str) -> SettingsError:
    return SettingsError(
        f"The method '{method}' has an empty part; write names separated by +, such as cbfs+mhm."
    )


def not_a_method(kind: str) -> SettingsError:
    return SettingsError(
        f"method is of type {kind}; give a name such as 'mdav', a recipe such as 'cbfs+mhm', or a Stage."
    )


def setting_without_value(method: str, part: str) -> SettingsError:
    return SettingsError(
        f"'{part}' in {method}:{part} is not a setting; write name=value, such as mdav:stop=2k."
    )


def unknown_setting(method: str, key: str, known: Sequence[str]) -> SettingsError:
    has = f"its settings are {listed(known)}" if known else "it has no settings"
    return SettingsError(f"{method} has no setting '{key}'{nearest_names(key, known)} ({has}).")


def setting_given_twice(method: str, key: str) -> SettingsError:
    return SettingsError(f"{method} has the setting '{key}' twice; keep one.")


def bad_setting(method: str, key: str, value: str, needed: str) -> SettingsError:
    return SettingsError(f"{method}:{key}={value} is not possible; {key} must be {needed}.")


def initial_after_start(stage: str, before: str) -> SettingsError:
    return SettingsError(
        f"{stage} after {before} would throw away the result of {before}. "
        f"Put {stage} first, or leave {before} out."
    )


def nothing_to_combine(what: str) -> SettingsError:
    return SettingsError(f"{what} needs at least one stage.")


def univariate_only(method: str, p: int) -> SettingsError:
    return SettingsError(
        f"{method} works on one column; these data have {p}. "
        "Choose one column, or a method for several columns, such as mdav-mhm."
    )


def too_many_records(method: str, n: int, most: int, instead: str) -> SettingsError:
    return SettingsError(
        f"{method} looks at every partition and is limited to {most} records; these data have {n}. "
        f"Use {instead}."
    )


def no_such_choice(setting: str, value: object, choices: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"{option_name(setting)} is {value!r}{nearest_names(str(value), choices)}. It must be one of "
        f"{listed(choices)}."
    )


def option_given_twice(option: str) -> SettingsError:
    return SettingsError(
        f"{option} is given more than once, but takes only one value. Keep the one that you want."
    )


def bad_number(setting: str, found: object, needed: str) -> SettingsError:
    return SettingsError(
        f"{option_name(setting)} is {found!r}, of type {type(found).__name__}; it must be {needed}."
    )


def too_little_noise(found: float, least: float) -> SettingsError:
    return SettingsError(
        f"{option_name('noise')} is {found:g}; with less than {least:g} of a column's standard deviation, "
        f"values hardly change. Use at least {least:g}, such as 0.1."
    )


def text_codes_of_numbers(column: str, texts: Sequence[str]) -> SettingsError:
    shown = listed([f"'{text}'" for text in texts])
    return SettingsError(
        f"{option_name('missing_codes')} of '{column}' has the text {shown}, but the column holds numbers "
        "and can hold no text: its missing values are marked as missing already. Leave the text out."
    )


def not_callable(setting: str, kind: str) -> SettingsError:
    return SettingsError(f"{setting} is of type {kind}; it must be a function, or None.")


def no_effect(setting: str, method: str, why: str) -> SettingsError:
    return SettingsError(f"{option_name(setting)} would have no effect on {method}: {why} Leave it out.")


def out_of_memory() -> str:
    return (
        "There is not enough memory for these data and this method. Use fewer records or columns at a "
        "time, raise the limit if there is one (ulimit -v, or -u for threads), or use a machine with more "
        "memory."
    )


def not_enough_memory(needs: int, there: int) -> NotEnoughMemory:
    return NotEnoughMemory(
        f"This method needs about {needs / 1e9:.1f} GB of memory for these data, but only "
        f"{there / 1e9:.1f} GB are available. Use fewer records or columns at a time, such as one stratum "
        f"after the other, {use('method', 'blocks')}, or a machine with more memory."
    )


def not_verified() -> ContractError:
    return ContractError(
        "A table that has not passed verification was about to be released; it was not. "
        "This is a bug in microagg; please report it with the command you typed."
    )


def contract_broken(stage: str, what: str) -> ContractError:
    return ContractError(
        f"{stage} broke its contract: {what}. This is a bug in microagg; please report it with the "
        "method and the size of the data."
    )
