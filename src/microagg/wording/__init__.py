"""All sentences that users read: errors, findings, notes.

A message has what was found, what is needed and what to do, in that order; never a respondent's value.
"""

from inspect import isfunction as _isfunction

# ruff: noqa: F403 (the package is one namespace: wording.k_above_n, wherever it is written)
from microagg.wording import phrases as _phrases
from microagg.wording.assessments import *
from microagg.wording.certificates import *
from microagg.wording.data import *
from microagg.wording.message import *
from microagg.wording.phrases import *
from microagg.wording.reading_and_writing import *
from microagg.wording.records import *
from microagg.wording.serving import *
from microagg.wording.settings import *
from microagg.wording.spark import *
from microagg.wording.template import Template
from microagg.wording.verdicts import *

_HELPERS = tuple(f"{__name__}.{module}" for module in ("message", "phrases", "template"))

# One place for all messages, whoever writes them: no name in them can reach a terminal as a command.
for _name, _sentence in list(globals().items()):
    if isinstance(_sentence, Template):
        _sentence.kind = _name
    elif _isfunction(_sentence) and _sentence.__module__ not in _HELPERS:
        globals()[_name] = _phrases.safe_to_show(_sentence)
