"""Certificates that prove nothing, or not what they claim."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import CertificateError, MissingExtra, SettingsError
from microagg.wording.phrases import counted, quoted


def not_a_certificate(format_name: str) -> CertificateError:
    """Some other object."""
    return CertificateError(
        f"This is not a certificate: its 'format' is not '{format_name}'. Give the file microagg wrote."
    )


def certificate_of_other_version(oldest: int, newest: int) -> CertificateError:
    """Written by another microagg."""
    return CertificateError(
        f"The certificate is not of a version from {oldest} to {newest}; others cannot be checked here. "
        "Check it with the microagg that wrote it."
    )


def needs_extra(what: str, package: str, extra: str) -> MissingExtra:
    """An optional dependency is not installed."""
    return MissingExtra(f"{what} needs {package}: pip install 'microagg[{extra}]'")


def proven_optimal() -> str:
    """The loss is that of the bound."""
    return "proven optimal"


def above_the_optimum(gap: float | None) -> str:
    """How far a loss is from the optimum at most, in percent of the bound."""
    if gap is None:
        return "how far above the optimum is not known, for the proven bound is 0"
    percent = f"{gap:,.0f}" if gap >= 1000 else f"{gap:.3g}"
    return f"at most {percent} % above the optimum"


def no_certificate(n: int, most: int) -> SettingsError:
    """There is a proof, but none of the kind that a certificate holds."""
    return SettingsError(
        "There is no certificate: certificates are written for proofs by column generation, that is for "
        f"at least two attributes and from 2k to {most:,} records; there are {n:,}."
    )


def same_output(path: str) -> SettingsError:
    """Two files under one name."""
    return SettingsError(f"{path} is named twice: every output needs a file of its own.")


def report_not_html(path: str) -> SettingsError:
    """Browsers open reports by their ending."""
    return SettingsError(f"{path}: a report is an HTML page; let its name end in .html.")


def stopped_before_proof() -> SettingsError:
    """The run was stopped while it looked for a partition."""
    return SettingsError("There is no certificate: the run was stopped before it began to prove a bound.")


def certificate_fields(where: str, missing: Sequence[str], unknown: Sequence[str]) -> CertificateError:
    """Names that are not the format's."""
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has unknown fields: {quoted(unknown)}"] if unknown else []
    part = "The certificate" if where == "certificate" else f"An entry of the certificate's '{where}'"
    return CertificateError(f"{part} {' and '.join(found)}. Use the file as microagg wrote it.")


def certificate_field(name: str, needed: str) -> CertificateError:
    """A field of the wrong kind, length or range."""
    return CertificateError(
        f"The certificate's '{name}' cannot be used; needed: {needed}. Use the file as microagg wrote it."
    )


def certificate_altered() -> CertificateError:
    """The digest is that of other fields."""
    return CertificateError(
        "The certificate was changed after it was written: its fields do not have its digest. "
        "Use the file as microagg wrote it."
    )


def certificate_of_other_data() -> CertificateError:
    """The values are not those it was made for."""
    return CertificateError(
        "The certificate belongs to other data. Give the same records and columns in the same order."
    )


def certificate_data_unusable() -> CertificateError:
    """Not finite, or without squares in these units."""
    return CertificateError(
        "The data cannot be brought to the certificate's scale: they have missing or infinite values, "
        "or values whose squares cannot be computed. Give the data the certificate was made for."
    )


def certificate_of_other_partition() -> CertificateError:
    """The labels are not those it was made for."""
    return CertificateError(
        "The certificate's labels do not have its partition's digest. Use the file as microagg wrote it."
    )


def certificate_group_too_small(smallest: int, k: int) -> CertificateError:
    """Not a partition into groups of k."""
    return CertificateError(
        f"The certificate's partition has a group of {counted(smallest, 'record')}; "
        f"with k={k} each needs at least {k}. Make a new certificate."
    )


def certificate_figure_differs(name: str) -> CertificateError:
    """SSE or SST are not those of the data and the partition."""
    return CertificateError(
        f"The certificate's '{name}' is not that of its data, scale and partition. Make a new certificate."
    )


def certificate_leaves_incomplete() -> CertificateError:
    """Some partitions belong to no leaf."""
    return CertificateError(
        "The certificate's leaves are not all of a tree of decisions: some partitions are in none of them. "
        "Make a new certificate."
    )


def certificate_proves_less(claimed: float, proven: float) -> CertificateError:
    """The bound is higher than what follows from the prices."""
    return CertificateError(
        f"The certificate claims that no partition loses less than {claimed:.9g} %, "
        f"but its prices prove only {proven:.9g} %. Make a new certificate."
    )


def certificate_too_wide(most: int) -> CertificateError:
    """The prices are so far off that nearly all groups count."""
    return CertificateError(
        f"With the certificate's prices more than {most} groups would have to be looked at. "
        "Make a new certificate, with a smaller gap."
    )


def certificate_not_checked(seconds: float) -> CertificateError:
    """The time was over before the end of the check."""
    return CertificateError(
        f"The certificate was not checked to its end within {seconds:,.15g} seconds: nothing is proven, "
        "and nothing is refuted. Allow more seconds; if that does not help, ask for a new certificate "
        "with a smaller gap: prices that are far off, by mistake or on purpose, take for ever to check."
    )


def certificate_holds(
    k: int, scale: str, records: int, columns: Sequence[str], bound: float, loss: float, distance: str
) -> str:
    """What is proven, and about what."""
    return (
        f"The certificate holds: no partition loses less than {bound:.6f} %; its partition loses "
        f"{loss:.6f} %, {distance}.\n"
        f"k = {k}, scale = {scale}, {counted(records, 'record')}, "
        f"{counted(len(columns), 'column')}: {', '.join(columns)}"
    )


def certificate_too_large(path: str, most: int) -> CertificateError:
    """No certificate has that size."""
    return CertificateError(f"{path} has more than {most} bytes, too many for a certificate.")


def certificate_unreadable(path: str) -> CertificateError:
    """Not JSON, or not strictly."""
    return CertificateError(
        f"{path} is not a JSON object in UTF-8 with finite numbers and each name once. "
        "Use the file as microagg wrote it."
    )
