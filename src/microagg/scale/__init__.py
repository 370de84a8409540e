"""From columns to problems: common units, strata, patterns of missing values."""

from microagg.scale.tasks import Task, Tasks, tasks_of
from microagg.scale.units import to_points

__all__ = ["Task", "Tasks", "tasks_of", "to_points"]
