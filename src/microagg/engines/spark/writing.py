"""A release on Spark -> a folder of files, which gets its name when they were read and counted again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from microagg import wording, write
from microagg.engines.spark.spark_errors import translating_spark_errors
from microagg.formats import spark_folders
from microagg.formats.spark_folders import Folder, FrameSource
from microagg.methods.steps import Steps
from microagg.plan.plan_file import used_plan
from microagg.verdict import refuse, unsafe_release
from microagg.verify.frame_columns import quoted
from microagg.verify.frame_release import check_files, fingerprints, has_metadata
from microagg.wording import Step
from microagg.write.output_paths import INTERNAL_FOLDER, OutputPaths

if TYPE_CHECKING:
    from microagg.engines.spark.release import SparkRelease


def check_folder(
    source: FrameSource, path: str, force: bool, record: str | Path | None
) -> tuple[Folder, OutputPaths]:
    """Refuse what could not be written, or must not be written there; where to write the rest."""
    folder = Folder(source.frame.sparkSession, path)
    spark_folders.csv_format_of_output(path, source)
    if not folder.parent.exists():
        raise wording.no_output_folder(folder.parent.path)
    if any(folder.holds(file) for file in source.frame.inputFiles()):
        raise wording.output_is_input(path)
    if folder.exists() and not force:
        raise wording.output_exists(path, replaceable=True)
    local = folder.local
    if record is None and local is None:
        raise wording.record_needs_folder(path)
    places = OutputPaths.of(local or Path(path).name, record, False)
    if local is not None and places.folder.resolve() in (local.parent.resolve(), local.resolve()):
        raise wording.internal_beside_release(str(places.folder), INTERNAL_FOLDER)
    write.Internal(places.folder).check(places.record, places.plan, force=force)
    return folder, places


def save(release: SparkRelease, path: str, force: bool, record: str | Path | None, steps: Steps) -> Path:
    """Write the files, read them back, count again, and only then give the folder its name."""
    session = release.source.frame.sparkSession
    with translating_spark_errors(session, "looking at the output"):
        folder, places = check_folder(release.source, path, force, record)
    release = release.with_earlier(places)
    csv = spark_folders.csv_format_of_output(path, release.source)
    frame = data = release.data
    texts = [] if csv is None else spark_folders.as_text(data, csv, release.numbers)
    if csv is not None:
        frame = data.select(*texts)
    local = folder.local
    with (
        translating_spark_errors(session, "writing the release"),
        write.claimed(None if local is None else local.parent),
        spark_folders.staging(folder, write.hidden_name()) as staged,
    ):
        steps.begin(Step.WRITING, 0.0)
        spark_folders.write(frame, staged, csv)
        steps.begin(Step.VERIFYING_FILE, 0.5)
        digests = staged.digests()
        if not all(name == "_SUCCESS" or name.startswith("part-") for name in digests):
            raise unsafe_release([refuse("written_parts_unknown")])
        written = spark_folders.read_again(session, staged, frame, csv)
        if [(f.name, f.dataType) for f in written.schema] != [(f.name, f.dataType) for f in frame.schema]:
            raise unsafe_release([refuse("written_by_spark_differs")])
        if has_metadata(written.schema):
            raise unsafe_release([refuse("written_metadata")])
        verified = release.released
        if csv is not None:
            # Text is compared with text, and that with what was verified.
            found, verified = fingerprints(data, [quoted(name) for name in data.columns], texts)
            if found != release.released:
                raise unsafe_release([refuse("written_by_spark_differs")])
        check_files(written, verified, release.verdict, release.claims)
        contents = {
            places.record: release.written_record(Path(path).name, str(verified)),
            places.plan: used_plan(dict(release.protection.settings)),
        }
        with (
            write.Internal(places.folder).staged(contents) as drafts,
            write.committing(drafts, force, main=path),
        ):
            old = _give_name(staged, folder, force, digests)
            if old is not None:
                with suppress(Exception):  # it is hidden, and the new release has its name
                    old.remove()
    return places.folder / places.record


def _give_name(staged: Folder, target: Folder, force: bool, digests: dict[str, str]) -> Folder | None:
    """Rename; an older release, which is hidden then, may go. `UnsafeRelease`, and no new name, if the
    files are no longer those that were verified.
    """
    if not target.exists():
        staged.rename(target)
        try:
            _check_unchanged(target, digests)
        except BaseException:
            target.remove()
            raise
        return None
    if not force:
        raise wording.output_exists(target.path, replaceable=True)
    old = target.beside(write.hidden_name())
    target.rename(old)
    try:
        staged.rename(target)
        _check_unchanged(target, digests)
    except BaseException:
        with suppress(Exception):
            target.remove()  # a part of the new one, or nothing
            old.rename(target)
        raise
    return old


def _check_unchanged(folder: Folder, digests: dict[str, str]) -> None:
    if folder.digests() != digests:
        raise unsafe_release([refuse("changed_after_check")])
