"""All file formats, one module for each program. A new one is named here, with its module and its endings.
Whoever shows only names need not wait for libraries that read files.
"""

MODULES: dict[str, dict[str, tuple[str, ...]]] = {
    "csv": {"CSV": (".csv", ".tsv", ".txt")},
    "arrow": {"Parquet": (".parquet",), "Arrow": (".feather", ".arrow")},
    "excel": {"Excel": (".xlsx",)},
    "statistical": {
        "Stata": (".dta",),
        "SPSS": (".sav", ".zsav"),
        "SPSS portable": (".por",),
        "SAS": (".sas7bdat",),
        "SAS transport": (".xpt",),
    },
}
ENDINGS_OF = {name: endings for formats in MODULES.values() for name, endings in formats.items()}
FORMAT_OF = {ending: name for name, endings in ENDINGS_OF.items() for ending in endings}
"""The names of formats by the endings of their files' names."""
