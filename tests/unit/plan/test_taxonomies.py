"""Taxonomies of codes: what stands above each, from files and mappings."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from microagg.errors import DataError, SettingsError
from microagg.model import Microdata, Origin
from microagg.plan.plan_file import read_plan
from microagg.plan.protection import Protection
from microagg.plan.taxonomies import parents_of, paths_of
from microagg.prepare.key_columns import key_column
from microagg.wording import message_of

TREE = {"1": "", "2": "", "11": "1", "12": "1", "111": "11"}


def written(folder: Path, text: str) -> str:
    path = folder / "tree.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def microdata(columns: dict[str, list[object]]) -> Microdata:
    return Microdata(pa.table(columns), Origin("frame", "data"))


def protection(**words: object) -> Protection:
    return Protection.of({"k": 3, "keys": ["job", "x"], **words})


def test_files_and_mappings_are_the_same(tmp_path: Path) -> None:
    rows = [("1", ""), ("2", ""), ("11", "1"), ("12", "1"), ("111", "11")]
    for sign in ",;\t":
        lines = [sign.join(("code", "label", "parent")), *(sign.join((a, "x", b)) for a, b in rows), ""]
        for end in "\n", "\r\n":
            assert parents_of("job", written(tmp_path, "\ufeff" + end.join(lines))) == TREE
    assert protection(taxonomy={"job": {1: None, 2: "", 11: 1, "12 ": "1", "111": "11"}}).taxonomy == {
        "job": TREE
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "taxonomy_without_header"),
        ("1,\n2,\n", "taxonomy_without_header"),
        ("code,parent,code\n1,,1\n", "taxonomy_without_header"),
        ("code,parent\n", "taxonomy_empty"),
        ("code,parent\n1,\n,1\n", "taxonomy_bad_row"),
        ("code,parent\n1\n", "taxonomy_bad_row"),
        ("code,parent\n1,\n1,2\n2,\n", "taxonomy_code_twice"),
        ("code,parent\n1,\n11,3\n", "taxonomy_unknown_parent"),
        ("code,parent\n1,11\n11,111\n111,1\n2,\n", "taxonomy_cycle"),
        ("code,parent\n1,1\n", "taxonomy_cycle"),
        ('code,parent\n"1,\n', "taxonomy_not_csv"),
    ],
)
def test_files_that_are_no_taxonomy(tmp_path: Path, text: str, kind: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        parents_of("job", written(tmp_path, text))
    assert message_of(refusal.value).kind == kind


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        parents_of("job", str(tmp_path / "none.csv"))
    with pytest.raises(DataError):
        parents_of("job", str(tmp_path))
    (tmp_path / "latin.csv").write_bytes(b"code,parent\n\xe9,\n")
    with pytest.raises(SettingsError):
        parents_of("job", str(tmp_path / "latin.csv"))


@pytest.mark.parametrize("given", [5, "", [], {}, {"": "1"}, {"1": 2.5}, {"1": "", 1: ""}, {True: ""}])
def test_values_that_are_no_taxonomy(given: object) -> None:
    with pytest.raises(SettingsError):
        protection(taxonomy={"job": given})


def test_codes_that_stand_higher_repeat_themselves() -> None:
    assert paths_of(TREE, ["111", "12", "2", None]) == [
        ["1", "11", "111"],
        ["1", "12", "12"],
        ["2", "2", "2"],
        [None, None, None],
    ]


def test_only_nominal_keys_have_a_taxonomy() -> None:
    with pytest.raises(SettingsError) as refusal:
        protection(taxonomy={"other": TREE})
    assert message_of(refusal.value).kind == "only_for_masked"
    with pytest.raises(SettingsError) as refusal:
        protection(taxonomy={"job": TREE}, ordinal={"job": ["1", "2"]})
    assert message_of(refusal.value).kind == "taxonomy_of_levels"


def test_codes_of_a_taxonomy_are_categories_whatever_their_type() -> None:
    source = microdata({"job": [1, 2, 11, 11], "x": [1, 2, 3, 4]})
    _, kind = key_column(source, "job", protection(taxonomy={"job": TREE}))
    assert kind is not None
    assert kind.kind == "nominal"


def test_codes_that_the_taxonomy_lacks_are_counted_not_named() -> None:
    source = microdata({"job": ["1", "12", "secret", "12"], "x": [1, 2, 3, 4]})
    with pytest.raises(SettingsError) as refusal:
        key_column(source, "job", protection(taxonomy={"job": TREE}, nominal=["job"]))
    message = message_of(refusal.value)
    assert message.kind == "taxonomy_lacks_codes"
    assert (message.figures["unknown"], message.figures["of"]) == (1, 3)
    assert "secret" not in str(refusal.value)


def test_a_plan_names_a_file_in_its_own_folder(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('k = 3\ntaxonomy = { job = "tree.csv" }\n', encoding="utf-8")
    assert read_plan(plan)["taxonomy"] == {"job": str(tmp_path / "tree.csv")}
