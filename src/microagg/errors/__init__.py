"""Every exception of microagg and all of its wording.

A message says what was found, what is needed and what to do. None ever shows a respondent's value.
"""

# ruff: noqa: F403 (the package is one namespace: errors.k_above_n, wherever it is written)
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
