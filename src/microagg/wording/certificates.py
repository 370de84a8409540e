"""Certificates that prove nothing, or not what they claim, and how close to the optimum a result is."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import CertificateError, MissingExtra, SettingsError
from microagg.wording.phrases import count, quoted


def not_a_certificate(format_name: str) -> CertificateError:
    return CertificateError(
        f"This is not a certificate: its 'format' is not '{format_name}'. Give the file that microagg "
        "wrote."
    )


def certificate_of_other_version(oldest: int, newest: int) -> CertificateError:
    return CertificateError(
        f"The certificate has a version other than {oldest} to {newest}, which this microagg cannot check. "
        "Check it with the version of microagg that wrote it."
    )


def needs_extra(what: str, package: str, extra: str) -> MissingExtra:
    return MissingExtra(f"{what} needs {package}: pip install 'microagg[{extra}]'")


def proven_optimal() -> str:
    return "proven optimal"


def above_the_optimum(gap: float | None) -> str:
    if gap is None:
        return "how far above the optimum is not known, as the proven bound is 0"
    percent = f"{gap:,.0f}" if gap >= 1000 else f"{gap:.3g}"
    return f"at most {percent} % above the optimum"


def no_certificate(n: int, most: int) -> SettingsError:
    return SettingsError(
        "There is no certificate. Certificates are written for proofs by column generation: at least two "
        f"columns, and from 2k to {most:,} records; these data have {n:,} records."
    )


def same_output(path: str) -> SettingsError:
    return SettingsError(f"{path} is named for two outputs; each needs a file of its own.")


def report_not_html(path: str) -> SettingsError:
    return SettingsError(f"{path}: a report is an HTML page, so its name must end in .html.")


def stopped_before_proof() -> SettingsError:
    return SettingsError("There is no certificate: the run was stopped before it began to prove a bound.")


def certificate_fields(where: str, missing: Sequence[str], unknown: Sequence[str]) -> CertificateError:
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has unknown fields: {quoted(unknown)}"] if unknown else []
    part = "The certificate" if where == "certificate" else f"An entry of the certificate's '{where}'"
    return CertificateError(f"{part} {' and '.join(found)}. Use the file as microagg wrote it.")


def certificate_field(name: str, needed: str) -> CertificateError:
    return CertificateError(
        f"The certificate's '{name}' cannot be used; needed: {needed}. Use the file as microagg wrote it."
    )


def certificate_altered() -> CertificateError:
    return CertificateError(
        "The certificate was changed after it was written: its digest does not fit its fields. "
        "Use the file as microagg wrote it."
    )


def certificate_of_other_data() -> CertificateError:
    return CertificateError(
        "The certificate belongs to other data. Give the same records and columns in the same order."
    )


def certificate_data_unusable() -> CertificateError:
    return CertificateError(
        "The data cannot be brought to the certificate's scale: they have missing or infinite values, "
        "or values too large to be squared. Give the data for which the certificate was made."
    )


def certificate_of_other_partition() -> CertificateError:
    return CertificateError(
        "The digest of the certificate's partition does not fit its labels. Use the file as microagg wrote "
        "it."
    )


def certificate_group_too_small(smallest: int, k: int) -> CertificateError:
    return CertificateError(
        f"The certificate's partition has a group of {count(smallest, 'record')}; "
        f"with k = {k} each group needs at least {k}. Make a new certificate."
    )


def certificate_figure_differs(name: str) -> CertificateError:
    return CertificateError(
        f"The certificate's '{name}' does not follow from its data, scale and partition. Make a new "
        "certificate."
    )


def certificate_leaves_incomplete() -> CertificateError:
    return CertificateError(
        "The certificate's cases are incomplete: some partitions belong to none of its leaves. "
        "Make a new certificate."
    )


def certificate_proves_less(claimed: float, proven: float) -> CertificateError:
    return CertificateError(
        f"The certificate claims that no partition loses less than {claimed:.9g} %, "
        f"but its prices prove only {proven:.9g} %. Make a new certificate."
    )


def certificate_too_wide(most: int) -> CertificateError:
    return CertificateError(
        f"The certificate's prices are so far off that more than {most} groups would have to be checked. "
        "Make a new certificate, with a smaller gap."
    )


def certificate_not_checked(seconds: float) -> CertificateError:
    return CertificateError(
        f"The check of the certificate did not end within {seconds:,.15g} seconds: nothing is proven, and "
        "nothing is refuted. Allow more seconds; if that does not help, ask for a new certificate with a "
        "smaller gap: prices that are far off, by mistake or on purpose, take too long to check."
    )


def certificate_holds(
    k: int, scale: str, records: int, columns: Sequence[str], bound: float, loss: float, distance: str
) -> str:
    return (
        f"The certificate holds: no partition loses less than {bound:.6f} %; its partition loses "
        f"{loss:.6f} %, {distance}.\n"
        f"k = {k}, scale = {scale}, {count(records, 'record')}, "
        f"{count(len(columns), 'column')}: {', '.join(columns)}"
    )


def certificate_too_large(path: str, most: int) -> CertificateError:
    return CertificateError(
        f"{path} has more than {most} bytes, too many for a certificate. Give a certificate."
    )


def certificate_unreadable(path: str) -> CertificateError:
    return CertificateError(
        f"{path} is not a JSON object in UTF-8 with finite numbers and unique names. "
        "Use the file as microagg wrote it."
    )
