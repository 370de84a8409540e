"""The format of a file by its first bytes, whatever its name."""

from __future__ import annotations

_SIGNATURES = (
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"FEA1", "Arrow"),
    (b"PK\x03\x04", "Excel"),
    (b"PK\x05\x06", "Excel"),
    (b"<stata_dta>", "Stata"),
    (b"$FL2", "SPSS"),
    (b"$FL3", "SPSS"),
    (b"HEADER RECORD*******LIB", "SAS transport"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92", "SAS"),
    # Office before 2007; also the container of a workbook with a password.
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"%PDF", "PDF"),
    (b"SQLite format 3\0", "SQLite"),
)
FIRST_BYTES = 512


def detect_format(beginning: bytes) -> str | None:
    """The format of a file that begins with these bytes, as `model.FORMATS` calls it if it is one of them.

    "text" is plain text; None: unknown.
    """
    for signature, kind in _SIGNATURES:
        if beginning.startswith(signature):
            return kind
    if b"SPSS PORT FILE" in beginning:
        return "SPSS portable"
    text = all(byte >= 0x20 or byte in b"\t\n\r\f" for byte in beginning)
    return "text" if text else None
