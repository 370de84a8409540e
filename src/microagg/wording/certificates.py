"""Certificates that prove nothing, or not what they claim, and how close to the optimum a result is."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import CertificateError
from microagg.wording.phrases import quoted
from microagg.wording.template import certificate_error, missing_extra, settings_error, text

not_a_certificate = certificate_error("format_name")("""
    This is not a certificate: its 'format' is not '{format_name}'. Give the file that microagg wrote.""")
certificate_of_other_version = certificate_error("oldest", "newest")("""
    The certificate has a version other than {oldest} to {newest}, which this microagg cannot check. Check
    it with the version of microagg that wrote it.""")
needs_extra = missing_extra("what", "package", "extra")(
    "{what} needs {package}: pip install 'microagg[{extra}]'"
)
proven_optimal = text()("proven optimal")


def above_the_optimum(gap: float | None) -> str:
    if gap is None:
        return "how far above the optimum is not known, as the proven bound is 0"
    percent = f"{gap:,.0f}" if gap >= 1000 else f"{gap:.3g}"
    return f"at most {percent} % above the optimum"


no_certificate = settings_error("n", "most")("""
    There is no certificate. Certificates are written for proofs by column generation: at least two columns,
    and from 2k to {most:,} records; these data have {n:,} records.""")
same_output = settings_error("path")("{path} is named for two outputs; each needs a file of its own.")
report_not_html = settings_error("path")("{path}: a report is an HTML page, so its name must end in .html.")
stopped_before_proof = settings_error()("""
    There is no certificate: the run was stopped before it began to prove a bound.""")


def certificate_fields(where: str, missing: Sequence[str], unknown: Sequence[str]) -> CertificateError:
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has unknown fields: {quoted(unknown)}"] if unknown else []
    part = "The certificate" if where == "certificate" else f"An entry of the certificate's '{where}'"
    return CertificateError(f"{part} {' and '.join(found)}. Use the file as microagg wrote it.")


certificate_field = certificate_error("name", "needed")("""
    The certificate's '{name}' cannot be used; needed: {needed}. Use the file as microagg wrote it.""")
certificate_altered = certificate_error()("""
    The certificate was changed after it was written: its digest does not fit its fields. Use the file as
    microagg wrote it.""")
certificate_of_other_data = certificate_error()("""
    The certificate belongs to other data. Give the same records and columns in the same order.""")
certificate_data_unusable = certificate_error()("""
    The data cannot be brought to the certificate's scale: they have missing or infinite values, or values
    too large to be squared. Give the data for which the certificate was made.""")
certificate_of_other_partition = certificate_error()("""
    The digest of the certificate's partition does not fit its labels. Use the file as microagg wrote
    it.""")
certificate_group_too_small = certificate_error("smallest", "k")("""
    The certificate's partition has a group of {smallest:record}; with k = {k} each group needs at least
    {k}. Make a new certificate.""")
certificate_figure_differs = certificate_error("name")("""
    The certificate's '{name}' does not follow from its data, scale and partition. Make a new
    certificate.""")
certificate_leaves_incomplete = certificate_error()("""
    The certificate is incomplete: some partitions belong to none of its cases. Make a new certificate.""")
certificate_proves_less = certificate_error("claimed", "proven")("""
    The certificate claims that no partition loses less than {claimed:.9g} %, but its prices prove only
    {proven:.9g} %. Make a new certificate.""")
certificate_too_wide = certificate_error("most")("""
    The certificate's bound is so weak that more than {most} groups would have to be checked. Make a new
    certificate, with a smaller gap.""")
certificate_not_checked = certificate_error("seconds")("""
    The check of the certificate did not end within {seconds:,.15g} seconds: nothing is proven, and nothing
    is refuted. Allow more seconds; if that does not help, ask for a new certificate with a smaller gap:
    prices that are far off, by mistake or on purpose, take too long to check.""")
certificate_holds = text("k", "scale", "records", "columns", "bound", "loss", "distance")(
    "The certificate holds: no partition loses less than {bound:.6f} %; its partition loses {loss:.6f} %, "
    "{distance}.\nk = {k}, scale = {scale}, {records:record}, {columns:column}: {columns:all}"
)
certificate_too_large = certificate_error("path", "most")("""
    {path} has more than {most} bytes, too many for a certificate. Give a certificate.""")
certificate_unreadable = certificate_error("path")("""
    {path} is not a JSON object in UTF-8 with finite numbers and unique names. Use the file as microagg
    wrote it.""")
