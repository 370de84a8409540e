"""What a user writes as method becomes a stage, or a message that names the nearest thing."""

from __future__ import annotations

import pickle

import pytest

from microagg.errors import SettingsError
from microagg.methods.catalogue import METHODS
from microagg.methods.fixed_size import Cbfs, MaximumDistance, Mdav
from microagg.methods.paths import GroupTour, NearestNext, PathCut
from microagg.methods.recipe import settings_of, stage_of
from microagg.methods.stage import Best, Escalate, Stage, Within, chain
from microagg.methods.variable_size import KWard


@pytest.mark.parametrize(
    ("recipe", "stage"),
    [
        ("mdav", Mdav()),
        ("mdav:stop=2k", Mdav("2k")),
        (" mdav : stop = 2k ", Mdav("2k")),
        ("mdav-mhm", chain(Mdav(), PathCut())),
        ("mdav+mhm", chain(Mdav(), PathCut())),
        ("mhm", chain(Mdav(), PathCut())),
        ("mhm:cyclic=yes", chain(Mdav(), PathCut(cyclic=True))),
        ("mdav-mhm:cyclic=no", chain(Mdav(), PathCut())),
        ("cbfs + mhm + mhm:cyclic=yes", chain(Cbfs(), PathCut(), PathCut(cyclic=True))),
        ("npn-mhm:cyclic=yes", PathCut(NearestNext(), True)),
        ("md-mhm", chain(MaximumDistance(), PathCut(GroupTour("pair")))),
        ("mdav:stop=2k:leftovers=jointly", Mdav("2k", leftovers="jointly")),
        ("mdav:first=earlier", Mdav(first="earlier")),
        ("mdav-mhm:first=earlier", chain(Mdav(first="earlier"), PathCut())),
        ("md:shared=in-turns:leftovers=record", MaximumDistance("in-turns", "record")),
        ("md-mhm:start=second", chain(MaximumDistance(), PathCut(GroupTour("second of pair")))),
        ("cbfs:divisor=all", Cbfs("all")),
        ("npn-mhm:start=pair", PathCut(NearestNext("pair"))),
        ("mdo-md:swap=yes", KWard(swap=True)),
        ("mdo-md:swap=drawn", KWard(drawn=True)),
        ("mdav-mhm:path_k=5:cyclic=yes", PathCut(GroupTour("centroid", Mdav(), 5), True)),
    ],
)
def test_recipes(recipe: str, stage: Stage) -> None:
    assert stage_of(recipe) == stage


@pytest.mark.parametrize(
    "stage",
    [Mdav(), chain(Cbfs(), PathCut()), Within(Mdav()), Best(Mdav(), Cbfs()), Escalate((PathCut(),))],
)
def test_a_stage_is_itself(stage: Stage) -> None:
    assert stage_of(stage) is stage


@pytest.mark.parametrize("name", METHODS)
def test_every_name_makes_a_stage_that_compares_and_pickles(name: str) -> None:
    stage = stage_of(name)
    assert isinstance(stage, Stage)
    assert not stage.needs_start, "a method written alone must be able to start"
    assert stage == stage_of(name)
    assert pickle.loads(pickle.dumps(stage)) == stage


@pytest.mark.parametrize("name", METHODS)
def test_every_entry_is_described(name: str) -> None:
    method = METHODS[name]
    assert "+" not in name
    assert name == name.lower()
    for text in (method.summary, method.paper, method.cost, method.guarantee):
        assert text.strip()
    assert method.largest_n > 0
    for start in method.starts_from:
        assert not stage_of(start).needs_start


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mdav", ["stop", "leftovers", "first"]),
        ("centroid", []),
        ("mhm", ["cyclic"]),
        ("mdav-mhm", ["path_k", "cyclic", "first"]),
        ("auto", ["prove"]),
        ("dissolve", []),
    ],
)
def test_settings_of(name: str, settings: list[str]) -> None:
    assert settings_of(name) == settings


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("mdva", ("'mdva'", "did you mean mdav", "microagg methods")),
        ("MDAV", ("'MDAV'", "did you mean mdav")),
        ("mdav mhm", ("'mdav mhm'", "mdav-mhm")),
        ("nonsense", ("'nonsense'", "microagg methods")),
        ("", ("empty", "cbfs+mhm")),
        ("mdav+", ("'mdav+'", "empty", "cbfs+mhm")),
        ("+mhm", ("'+mhm'", "empty")),
        ("mdav:stop", ("'stop'", "mdav", "name=value")),
        ("mdav:=2k", ("mdav", "name=value")),
        ("mdav:", ("mdav", "name=value")),
        ("mdav:stop=4k", ("mdav:stop=4k", "3k or 2k")),
        ("mdav:stp=2k", ("'stp'", "did you mean stop?")),
        ("cbfs:stop=2k", ("cbfs", "'stop'", "divisor")),
        ("centroid:stop=2k", ("centroid", "'stop'", "no settings")),
        ("mdav:leftovers=jointly", ("leftovers=jointly", "mdav", "stop=3k")),
        ("genetic:column=2", ("column", "genetic", "component")),
        ("genetic:axis=size", ("axis=size", "component or zscores or column")),
        ("icsm:tries=0", ("tries=0", "at least 1")),
        ("mdo-md:swap=sometimes", ("swap=sometimes", "no or yes or drawn")),
        ("auto:of=5", ("auto has no setting 'of'", "prove")),
        ("dissolve:resplit=3", ("dissolve has no setting 'resplit'", "no settings")),
        ("mdav:stop=2k:stop=3k", ("'stop'", "twice")),
        ("mhm:cyclic=true", ("cyclic=true", "yes or no")),
        ("mdav-mhm:path_k=0", ("path_k=0", "at least 1")),
        ("mdav-mhm:path_k=²", ("path_k=²", "whole number")),
        ("mdav-mhm:path_k=2.5", ("path_k=2.5", "whole number")),
        ("cbfs+mdav", ("mdav after cbfs", "Put mdav first")),
        ("mdav+npn-mhm", ("npn-mhm after mdav",)),
        (None, ("None", "mdav", "Stage")),
        (5, ("int", "Stage")),
        (["mdav"], ("list", "Stage")),
        (Mdav, ("type", "Stage")),
    ],
    ids=str,
)
def test_what_cannot_be_a_method(method: object, says: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError) as caught:
        stage_of(method)  # type: ignore[arg-type]
    for part in says:
        assert part in str(caught.value)
