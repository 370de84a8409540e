"""Every exception of microagg and all of its wording.

A message says what was found, what is needed and what to do. None ever shows a respondent's value.
"""

from inspect import isfunction as _isfunction

# ruff: noqa: F403 (the package is one namespace: errors.k_above_n, wherever it is written)
from microagg.errors import words as _words
from microagg.errors.assessments import *
from microagg.errors.bugs import *
from microagg.errors.certificates import *
from microagg.errors.data import *
from microagg.errors.files import *
from microagg.errors.kinds import *
from microagg.errors.measures import *
from microagg.errors.plans import *
from microagg.errors.roles import *
from microagg.errors.serving import *
from microagg.errors.settings import *
from microagg.errors.spark import *
from microagg.errors.verdicts import *
from microagg.errors.words import *

# One place for all messages, whoever writes them: no name in them can reach a terminal as a command.
for _name, _sentence in list(globals().items()):
    if _isfunction(_sentence) and _sentence.__module__ != _words.__name__:
        globals()[_name] = _words.with_visible_words(_sentence)
