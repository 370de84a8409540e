"""What is done once, in the process from which jobs are forked, and not by each of them."""

import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet  # noqa: F401

from microagg.report.rendering import compile_templates
from microagg.web import work  # noqa: F401

compile_templates()
