"""What the name of a column lets expect: a confidential matter, a weight, an amount, a code.

Names are English, German, French, Spanish or Italian, and the usual abbreviations of survey files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from microagg.identifiers import parts_of_name

WeightName = Literal["", "weight", "survey weight"]


def _any_of(text: str) -> re.Pattern[str]:
    """Any of these parts of names; a star stands for any ending."""
    patterns = (re.escape(part).replace(r"\*", ".*") for part in text.split())
    return re.compile("|".join(patterns))


_HEALTH = _any_of("""
    diagnos* disease* illness* sickness* sick disab* handicap* hiv aids icd cancer* tumor* tumour* diabet*
    depress* schizo* psychiatr* psychos* suicid* abortion* comorbid* patholog* infect* epilep* dement*
    alzheimer* symptom* medication* health healthy
    krank* erkrank* behinder* gesundheit* krebs* pflegegrad*
    maladie* sante cancer* invalidite* enfermedad* salud discapac* invalidez* malatti* salute invalidita*
""")
_INCOME = _any_of("""
    income* salary* salaries wage wages earnings earning earned earns debt debts wealth networth
    inc faminc hhinc hinc pinc persinc totinc netinc grossinc
    einkommen* gehalt gehaelter gehalter lohn loehne lohne verdienst schulden vermoegen vermogen
    revenu revenus salaire* dette dettes patrimoine ingreso ingresos salario salarios sueldo deuda deudas
    reddito redditi stipendio stipendi debito debiti
""")
_BELIEF = _any_of("""
    religi* confession denomination* konfession* glaube vote voted voting votechoice
    wahlentscheidung waehlt wahlt partei vota voto votacion parteipraeferenz parteipraferenz
""")
_CRIME = _any_of("""
    criminal* convict* conviction* arrested imprisoned offender* felony felonies misdemean*
    vorstrafe* straftat* delit condamne* delito delitos condanna* reato
""")
_SEXUALITY = _any_of(
    "sexuality homosexual* bisexual* sexualitaet sexualitat sexualite sexualidad sessualita"
)
_MATTERS = {
    "health": _HEALTH,
    "income": _INCOME,
    "religion or vote": _BELIEF,
    "crime": _CRIME,
    "sexuality": _SEXUALITY,
}
_LOGARITHM = re.compile(r"(l|ln|log)(wage|wages|salary|income|earnings|earn|inc|faminc|debt)")
_NOT_PERSONAL = _any_of("insurance insur* care center centre centres board dept department policy group")
"""Beside `health` or the like these name a place or a contract."""

_SURVEY_WEIGHT = re.compile(
    r"(?!bw)[a-z]+wgts?|[apifw]weights?|(per|pers|hh|asec|final|fin|samp|svy|base|p)wt|wt(finl|supp|per|hh)|pond|"
    r"ponderation|ponderacion|ponderazione|hochrechnungsfaktor|gewichtungsfaktor"
)
_WEIGHT = re.compile(
    r"weights?|wgts?|wts?|poids|gewicht|gewichte|pesos?|vikt|vekt|vaegt|vagt|waga|paino|[a-z]*gewicht"
)
_SURVEY = _any_of("""
    survey sample sampling design final grossing expansion person household hh base stratum replicate pop
    population cross longitudinal calibrated calibration post poststratification nonresponse
""")
_BODY = _any_of("""
    body birth kg kgs lb lbs pound pounds gram grams gramm g oz ounces baby infant child mother car vehicle
    brain dry wet net gross truck fish egg seed leaf chick gain loss carcass
""")

_AMOUNT = _any_of("""
    amount* sum total* tot value* price* cost* expend* spend* spent sale* revenue* turnover* profit* loss*
    asset* capital* tax* income* salary* wage* earning* pay payment* rent* loan* debt* budget* fee* premium*
    gdp gnp production output* export* import* invest* stock* pop popul* population* enrol* area* sqft sqrft
    surface* size* acres lotsize distance* mile* length* height* weight* width* volume* consum* load*
    dollars usd eur euro euros worth
    betrag summe wert preis kosten ausgaben umsatz gewinn verlust steuer miete flaeche flache einwohner
    einkommen* montant valeur prix cout depense* vente* chiffre benefice impot loyer superficie
    importe valor precio coste gasto gastos ventas ganancia impuesto alquiler superficie poblacion
    importo valore prezzo costo spesa spese vendite fatturato utile imposta affitto
""")
_ENDS_AS_AMOUNT = re.compile(
    r".{2,}(tax|val|value|income|rev|revenue|costs?|price|sales|expend|wages?|salary|debt)"
)
_OF_BUSINESS = _any_of("""
    sales turnover revenue revenues profit profits assets equity employees employment workers output
    production inventory inventories shareholders capital exports imports
    umsatz gewinn beschaeftigte beschaftigte mitarbeiter bilanzsumme chiffre benefice effectif salaries
    ventas empleados activos fatturato vendite dipendenti utile
""")
"""Two columns of such names make a file of businesses, whose incomes and debts are amounts like others."""

_CATEGORY = _any_of("""
    region regions state states province provinces department district districts county counties canton city
    town country countries nationality citizenship birthplace municipality commune race ethnic ethnicity
    etni ethn language religion occupation occ occup job profession industry sector branch indus sex gender
    marital marstat maritalstatus married cluster stratum strata psu
    bundesland kreis gemeinde staat staatsangehoerigkeit staatsangehorigkeit nationalitaet nationalitat
    beruf branche wirtschaftszweig geschlecht familienstand sprache
    departement pays nationalite metier secteur sexe langue
    provincia municipio pais nacionalidad ocupacion sector sexo idioma
    regione comune paese nazionalita professione settore sesso lingua
""")
_DEMOGRAPHIC = _any_of("""
    sex gender female male age ages agegroup agegp agegrp ageband agecat race ethnic ethnicity black white
    hispan hispanic nonwhite nationality nation citizenship citizen country birthplace immigrant foreign*
    marital marstat maritalstatus married divorced widowed single civilstatus relationship
    education educ schooling degree grade qualification occupation occ occup job profession workclass
    region state province district county canton city town municipality south north east west
    urban rural smsa msa birth birthdate birthday birthyear dob bmonth byear
    geschlecht alter altersgruppe familienstand staatsangehoerigkeit staatsangehorigkeit nationalitaet
    nationalitat herkunft bildung schulabschluss abschluss beruf bundesland kreis gemeinde geburt*
    sexe etat matrimonial nationalite diplome metier departement commune pays naissance
    sexo edad estado civil raza nacionalidad educacion estudios ocupacion provincia municipio pais
    nacimiento
    sesso eta stato civile razza nazionalita istruzione titolo professione regione comune paese nascita
""")


def confidential_matter(name: str) -> str:
    """Which matter that others must not learn a column of this name is likely to hold; '' for none."""
    parts = parts_of_name(name)
    if any(_NOT_PERSONAL.fullmatch(part) for part in parts):
        return ""
    if "sexual" in parts and "orientation" in parts:
        return "sexuality"
    for matter, pattern in _MATTERS.items():
        if any(pattern.fullmatch(part) for part in parts):
            return matter
    return "income" if any(_LOGARITHM.fullmatch(part) for part in parts) else ""


def weight_name(name: str) -> WeightName:
    """Whether the name is that of a weight of any kind, or of one that only surveys have."""
    parts = parts_of_name(name)
    if any(_BODY.fullmatch(part) for part in parts):
        return ""
    plain = any(_WEIGHT.fullmatch(part) for part in parts)
    if any(_SURVEY_WEIGHT.fullmatch(part) for part in parts) or (
        plain and any(_SURVEY.fullmatch(part) for part in parts)
    ):
        return "survey weight"
    return "weight" if plain else ""


def names_an_amount(name: str) -> bool:
    """Whether a number of this name is a quantity of something."""
    return any(_AMOUNT.fullmatch(part) or _ENDS_AS_AMOUNT.fullmatch(part) for part in parts_of_name(name))


def are_of_businesses(names: Iterable[str]) -> bool:
    """Whether columns of these names describe businesses rather than persons."""
    return sum(any(_OF_BUSINESS.fullmatch(part) for part in parts_of_name(name)) for name in names) >= 2


def names_a_category(name: str) -> bool:
    """Whether numbers of this name stand for classes without an order, such as regions or occupations."""
    parts = parts_of_name(name)
    return bool(parts) and _CATEGORY.fullmatch(parts[-1]) is not None and not names_an_amount(name)


def is_demographic(name: str) -> bool:
    """Whether a column of this name is one by which people are commonly distinguished."""
    return any(_DEMOGRAPHIC.fullmatch(part) for part in parts_of_name(name))
