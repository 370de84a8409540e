"""All file formats, one module for each program. A new format is named here, with the endings of its files,
and its module is listed in `table.py`. Whoever shows only names need not wait for libraries
that read files.
"""

ENDINGS_OF = {
    "CSV": (".csv", ".tsv", ".txt"),
    "Parquet": (".parquet",),
    "Arrow": (".feather", ".arrow"),
    "Excel": (".xlsx",),
    "Stata": (".dta",),
    "SPSS": (".sav", ".zsav"),
    "SPSS portable": (".por",),
    "SAS": (".sas7bdat",),
    "SAS transport": (".xpt",),
}
FORMAT_OF = {ending: name for name, endings in ENDINGS_OF.items() for ending in endings}
"""The names of formats by the endings of their files' names."""
