"""Reports as one HTML file each: the internal one shows all, the external one what may be published.

`facts.py` has the content of each. The external page gets nothing that does not follow from the release and
the settings, apart from a band of the information loss: it cannot show what it does not have. `charts.py`
draws. `pages.py` needs the extra `report`.
"""

from importlib.util import find_spec

from microagg import wording


def check_installed() -> None:
    """`MissingExtra` unless Jinja2 is installed; does not import it."""
    if find_spec("jinja2") is None:
        raise wording.needs_extra("Writing reports", "Jinja2", "report")
