"""Options and settings of methods that cannot be, memory that does not suffice, and bugs."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import ContractError, NotEnoughMemory, SettingsError
from microagg.wording.message import option_name
from microagg.wording.phrases import count, listed, nearest_names
from microagg.wording.template import error, settings_error, text

k_not_integer = settings_error("kind")(
    "k is of type {kind}; it must be a whole number of at least 2, such as 3."
)
k_too_small = settings_error("k")(
    "k is {k}; it must be at least 2, so that several records share their released values. Use 3 or more."
)


def k_above_n(k: int, n: int) -> SettingsError:
    remedy = f"Use a k of at most {n}, or more records." if n >= 3 else f"Give at least {k} records."
    return SettingsError(
        f"k is {k}, but the data have only {count(n, 'record')}; a group needs at least k records. {remedy}"
    )


unknown_method = settings_error("name", "known")(
    "There is no method '{name}'{name:nearest in known}. `microagg methods` lists all of them."
)
empty_method = settings_error("method")(
    "The method '{method}' has an empty part; write names separated by +, such as cbfs+mhm."
)
not_a_method = settings_error("kind")(
    "method is of type {kind}; give a name such as 'mdav', a recipe such as 'cbfs+mhm', or a Stage."
)
setting_without_value = settings_error("method", "part")(
    "'{part}' in {method}:{part} is not a setting; write name=value, such as mdav:stop=2k."
)


def unknown_setting(method: str, key: str, known: Sequence[str]) -> SettingsError:
    has = f"its settings are {listed(known)}" if known else "it has no settings"
    return SettingsError(f"{method} has no setting '{key}'{nearest_names(key, known)} ({has}).")


setting_given_twice = settings_error("method", "key")("{method} has the setting '{key}' twice; keep one.")
bad_setting = settings_error("method", "key", "value", "needed")(
    "{method}:{key}={value} is not possible; {key} must be {needed}."
)
initial_after_start = settings_error("stage", "before")(
    "{stage} after {before} would throw away the result of {before}. Put {stage} first, or leave {before} "
    "out."
)
nothing_to_combine = settings_error("what")("{what} needs at least one stage.")
univariate_only = settings_error("method", "p")(
    "{method} works on one column; these data have {p}. Choose one column, or a method for several "
    "columns, such as mdav-mhm."
)
too_many_records = settings_error("method", "n", "most", "instead")(
    "{method} looks at every partition and is limited to {most} records; these data have {n}. Use "
    "{instead}."
)
no_such_choice = settings_error("setting", "value", "choices")(
    "{setting:option} is {value!r}{value:nearest in choices}. It must be one of {choices:list}."
)
option_given_twice = settings_error("option")(
    "{option} is given more than once, but takes only one value. Keep the one that you want."
)


def bad_number(setting: str, found: object, needed: str) -> SettingsError:
    return SettingsError(
        f"{option_name(setting)} is {found!r}, of type {type(found).__name__}; it must be {needed}."
    )


text_codes_of_numbers = settings_error("column", "texts")(
    "{--missing_codes <name>} of '{column}' has the text {texts:quoted}, but the column holds numbers and "
    "can hold no text: its missing values are marked as missing already. Leave the text out."
)
not_callable = settings_error("setting", "kind")(
    "{setting} is of type {kind}; it must be a function, or None."
)
no_effect = settings_error("setting", "method", "why")(
    "{setting:option} would have no effect on {method}: {why} Leave it out."
)
out_of_memory = text()(
    "There is not enough memory for these data and this method. Use fewer records or columns at a time, "
    "raise the limit if there is one (ulimit -v, or -u for threads), or use a machine with more memory."
)
not_enough_memory = error(NotEnoughMemory, "needs", "there")(
    "This method needs about {needs:GB} of memory for these data, but only {there:GB} are available. Use "
    "fewer records or columns at a time, such as one stratum after the other, {--method blocks}, or a "
    "machine with more memory."
)
not_verified = error(ContractError)(
    "A table that has not passed verification was about to be released; it was not. {BUG}"
)
contract_broken = error(ContractError, "stage", "what")(
    "{stage} broke its contract: {what}. This is a bug in microagg; please report it with the method and "
    "the size of the data."
)
