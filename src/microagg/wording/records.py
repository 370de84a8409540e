"""Sentences about the internal record of a release, when it is read again."""

from __future__ import annotations

from microagg.wording.template import data_error, settings_error

not_a_record = data_error("path")(
    "{path} is not the internal record of a release, or is not complete. Give the file that ends in "
    ".microagg.json, as protect has written it."
)
record_of_other_kind = data_error("path")(
    "{path} was written by another version of microagg, whose records have not what is needed here. Use "
    "that version."
)
not_one_record = data_error("path", "names")(
    "The folder {path} has {names:record}, and one is needed. Give the file that ends in .microagg.json."
)
record_of_other_version = settings_error("path", "then", "now")(
    "The release of {path} was made by microagg {then}, and this is {now}, which may find other groups. "
    "Repeat it with version {then}."
)
record_of_other_engine = settings_error("path", "engine")(
    "The release of {path} was made by the engine {engine}, which has other groups. Repeat it there."
)
search_was_cut_short = settings_error("path")(
    "The release of {path} cannot be repeated: its search for groups was ended by a time limit or by hand, "
    "and would end elsewhere now. Keep the release itself; runs that end by themselves can be repeated."
)
other_source = data_error("name", "path")(
    "{name} is not the source of the release of {path}: its digest differs. Give the file as it was then."
)
other_output = data_error("name", "path")(
    "{name} is not the release of {path}: its digest differs. Give the file as it was written, and its own "
    "record."
)
beside_record = settings_error("options")(
    "{--record RECORD} has the roles and says which record is whose; {options:options} "
    "{options:has|have} no place beside it. Leave {options:it|them} out."
)
record_without_rows = settings_error("path")(
    "{path} is the record of a release on Spark, which does not say which record is whose. Name a column "
    "that identifies records ({--id})."
)
not_repeated = data_error("path", "software")(
    "The release of {path} could not be repeated: the groups or the written bytes differ. Nothing was "
    "written. The libraries then were {software:all}; use these, on the same kind of machine."
)
settings_beside_repeat = settings_error("options")(
    "{--repeat RECORD} takes all settings from the record; {options:options} {options:has|have} no place "
    "beside it. Leave {options:it|them} out, or protect the source anew."
)
no_path_in_record = settings_error("path")(
    "{path} does not name the file that was protected, which was no file. Give the source, too."
)
