"""What the settings of measures may be."""

from microagg.settings.kinds import Int, Number

POSITIVE = Number()
SHARE = Number("a number above 0 and at most 1", lambda number: 0.0 < number <= 1.0)
AT_LEAST_ONE = Int(at_least=1)
