"""Settings that cannot be, of `partition` and of methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from microagg.errors import NotEnoughMemory, SettingsError
from microagg.wording.phrases import counted, listed, nearest_names


def k_not_integer(kind: str) -> SettingsError:
    """K is of some other type."""
    return SettingsError(f"k is a {kind}; it must be a whole number of at least 2, such as k=3.")


def k_too_small(k: int) -> SettingsError:
    """K protects nobody."""
    return SettingsError(
        f"k is {k}; it must be at least 2, so that each released record stands for several. Use 3 or more."
    )


def k_above_n(k: int, n: int) -> SettingsError:
    """No group of k records can be formed."""
    remedy = f"Use a k of at most {n}, or more records." if n >= 3 else f"Give at least {k} records."
    return SettingsError(
        f"k is {k} but the data have only {counted(n, 'record')}; a group needs k records. {remedy}"
    )


def unknown_method(name: str, known: Iterable[str]) -> SettingsError:
    """No such name in the catalogue."""
    return SettingsError(
        f"There is no method '{name}'{nearest_names(name, known)}. `microagg methods` lists all of them."
    )


def empty_method(method: str) -> SettingsError:
    """A recipe with a gap in it."""
    return SettingsError(
        f"The method '{method}' has an empty part; write names joined by +, such as cbfs+mhm."
    )


def not_a_method(kind: str) -> SettingsError:
    """The method is neither text nor a stage."""
    return SettingsError(
        f"method is a {kind}; give a name such as 'mdav', a recipe such as 'cbfs+mhm', or a Stage."
    )


def setting_without_value(method: str, part: str) -> SettingsError:
    """Text after a colon that is not key=value."""
    return SettingsError(
        f"'{part}' after {method}: is not a setting; write key=value, such as mdav:stop=2k."
    )


def unknown_setting(method: str, key: str, known: Sequence[str]) -> SettingsError:
    """The method has no such setting."""
    has = f"its settings are {listed(known)}" if known else "it has no settings"
    return SettingsError(f"{method} has no setting '{key}'{nearest_names(key, known)} ({has}).")


def setting_given_twice(method: str, key: str) -> SettingsError:
    """The same key again."""
    return SettingsError(f"{method} is given the setting '{key}' twice; keep one.")


def bad_setting(method: str, key: str, value: str, needed: str) -> SettingsError:
    """The value of a method's setting does not fit."""
    return SettingsError(f"{method}:{key}={value} is not possible; {key} must be {needed}.")


def initial_after_start(stage: str, before: str) -> SettingsError:
    """A stage that ignores its start stands behind another."""
    return SettingsError(
        f"{stage} after {before} would discard the result of {before}. "
        f"Put {stage} first, or leave {before} out."
    )


def nothing_to_combine(what: str) -> SettingsError:
    """A combinator without parts."""
    return SettingsError(f"{what} needs at least one stage.")


def univariate_only(method: str, p: int) -> SettingsError:
    """A one-attribute method met several attributes."""
    return SettingsError(
        f"{method} works on one attribute; these data have {p}. "
        "Choose one column, or a multivariate method such as mdav-mhm."
    )


def too_many_records(method: str, n: int, most: int, instead: str) -> SettingsError:
    """The method's cost explodes."""
    return SettingsError(
        f"{method} looks at every partition and is limited to {most} records; these data have {n}. "
        f"Use {instead}."
    )


def no_such_choice(setting: str, value: object, choices: Sequence[str]) -> SettingsError:
    """A setting outside its list."""
    return SettingsError(
        f"{setting} is {value!r}{nearest_names(str(value), choices)}. It must be one of {listed(choices)}."
    )


def option_given_twice(option: str) -> SettingsError:
    """Which of them is meant is not for us to say."""
    return SettingsError(
        f"{option} is given more than once, and takes one value. Keep the one that is meant."
    )


def bad_number(setting: str, found: object, needed: str) -> SettingsError:
    """A numeric setting outside its range or of the wrong type."""
    return SettingsError(f"{setting} is {found!r}, of type {type(found).__name__}; it must be {needed}.")


def too_little_noise(found: float, least: float) -> SettingsError:
    """Values would be as good as unchanged."""
    return SettingsError(
        f"noise is {found:g}; with less than {least:g} of a column's standard deviation, values are as "
        f"good as unchanged. Use at least {least:g}, such as 0.1."
    )


def text_codes_of_numbers(column: str, texts: Sequence[str]) -> SettingsError:
    """In a column of numbers there is no text."""
    shown = listed([f"'{text}'" for text in texts])
    return SettingsError(
        f"missing_codes of '{column}' has the text {shown}, but the column holds numbers, among which no "
        "text can be: missing values are missing there already. Leave the text out."
    )


def not_callable(setting: str, kind: str) -> SettingsError:
    """Something to be called that cannot be."""
    return SettingsError(f"{setting} is a {kind}; it must be a function, or None.")


def no_effect(setting: str, method: str, why: str) -> SettingsError:
    """An option that would do nothing is refused, never ignored."""
    return SettingsError(f"{setting} would have no effect on {method}: {why} Leave it out.")


def out_of_memory() -> str:
    """Some allocation failed, or a thread could not be started."""
    return (
        "There is not enough memory for these data and this method. Use fewer records or columns at a "
        "time, raise the limit if there is one (ulimit -v, or -u for threads), or take a machine with more "
        "memory."
    )


def not_enough_memory(needs: int, there: int) -> NotEnoughMemory:
    """A kernel would need more than there is."""
    return NotEnoughMemory(
        f"This method needs about {needs / 1e9:.1f} GB of memory for these data, but only "
        f"{there / 1e9:.1f} GB can be had. Use fewer records or columns at a time, such as strata one by "
        "one, method='blocks', or a machine with more memory."
    )
