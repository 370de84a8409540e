"""Which columns are likely to identify a respondent, by their names and by how distinct they are."""

from __future__ import annotations

import re
import unicodedata

FEW_VALUES = 30
"""So many values at most are those of classes rather than of amounts or units."""

MANY_UNITS = 10
"""So many values at least has a column that is called by a unit, if it holds the units' numbers."""

NEARLY_ALL = 0.95
"""A column with this share of distinct values distinguishes nearly every record."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Parts of column names in English, French, German, Spanish, Italian, Portuguese, Dutch, Polish and the
# Nordic languages, without accents. Abbreviations are those of national registers.
_NUMBERS = _set("""
    id ids ident identifier identifiant identificador identificatore identifikator kennung
    kennziffer ausweis uid uuid guid pid nid hid hhid fid cid rid mid iid imei ip phone telephone tel
    cellphone fax telefon telefono telefone telefoon puhelin
    iban bic konto passport passeport pasaporte passaporto
    passaporte reisepass paspoort paszport ssn nino nhs siren siret nir nif nie dni curp rfc cpf
    cnpj codfisc codicefiscale matricule matricola matricula bsn burgerservicenummer pesel regon cpr
    cprnr fnr hetu henkilotunnus personnummer svnr ahv steuerid taxid vatid licenceplate
    licenseplate kennzeichen
""")
"""Whatever the column holds."""

_TEXTS = _set("""
    name names surname forename nom prenom nombre apellido apellidos nome cognome apelido sobrenome
    vorname nachname naam voornaam achternaam namn fornamn efternamn navn fornavn etternavn
    efternavn imie nazwisko nimi etunimi sukunimi email mail courriel correo address addr adresse
    direccion domicilio indirizzo endereco morada adres adress osoite adresa street strasse rue
    calle straat ulica gata mobile handy url website
""")
"""In columns of text only: nombre is a number in French, and an e-mail is no amount."""

_OF_CLASSES = _set("""
    country region state province department district county canton land pays city town product
    brand category class type group sector industry branch species occupation job language month day
    weekday
""")
"""The name of one of these is that of a class, not of a person."""

_SUBJECT = (
    "person|individual|ind|client|customer|patient|company|firm|business|enterprise|plant|establishment|"
    "household|hh|family|case|record|rec|row|user|member|respondent|resp|employee|worker|student|pupil|"
    "subject|sample|unit|entity|account|policy|contract|interview|school|tax|vat|national|unique"
)
_COUNTED = "p|pers|haus|haushalts|h|lf|lfd|l|kd|kunden|patienten|fall|fam|stamm|betr|betriebs|firmen"
_ENDS_IN_ID = _set("""
    acrid amid antacid anykid arid avid candid carotid covid eyelid florid fluid fervid frigid grid
    gravid haskid horrid humid hybrid
    insipid intrepid invalid languid lipid liquid livid lucid lurid morbid orchid outbid pallid
    placid putrid pyramid rabid rapid rigid solid sordid splendid squalid squid stolid stupid tepid
    timid torrid turbid undid uricacid valid viscid vivid yngkid youngkid
""")
"""Ordinary words, and names of indicators, that end in -id by chance, beside those in -aid and -oid."""

_UNIT = _set("""
    nr no num number nummer numero numer seq seqn seqnum serial serialno recno rownum rownames obs obsno
    person persona personne haushalt menage hogar famiglia famille familie familia household family firm
    company business enterprise establishment plant patient client customer case caseno subject respondent
    individual individu individuo member employee worker student pupil participant panelist user school
    hospital betrieb unternehmen entreprise empresa impresa betriebsnr firma patientin kunde
    pidp hidp pnum hnum lnum psn unit
""")
"""As the whole name of a column of many whole numbers: the number of a unit."""

_CODE = re.compile(
    r"[a-z]*code?s?|kode|codigo|codice|[a-z]*schlue?ssel|zip|plz|fips|nuts|sic|naics|nace|isco|isced"
)

_JOINED = re.compile(rf"({_SUBJECT})(id|no|nr|num|number)|.{{3,}}(?<!a|o)id|.*nummer|({_COUNTED})nr")
_JOINED_TEXTS = re.compile(".*(strasse|adresse|name|namn|navn)")
_NUMBER_OF_SUBJECT = re.compile(rf"(^| )({_SUBJECT}|customs|social|insurance) (no|nr|num|number)$")


def identifying_name(name: str, text: bool) -> bool:
    """Whether a column of this name is likely to identify, by its whole parts and well-known compounds.

    `person_id`, `PersonID` and `personid` are, `paid` and `width` are not. `text`: whether it holds text.
    """
    parts = parts_of_name(name)
    if any(part in _NUMBERS for part in parts) or _NUMBER_OF_SUBJECT.search(" ".join(parts)):
        return True
    if any(_JOINED.fullmatch(part) and part not in _ENDS_IN_ID for part in parts):
        return True
    of_person = text and not any(part in _OF_CLASSES for part in parts)
    return of_person and any(part in _TEXTS or _JOINED_TEXTS.fullmatch(part) for part in parts)


def names_a_unit(name: str) -> bool:
    """Whether the name is that of a unit and nothing else, such as `person` or `nr`, perhaps numbered.

    `nr_of_children` is not such a name.
    """
    parts = parts_of_name(name)
    return len(parts) == 1 and parts[0] in _UNIT


def names_codes(name: str) -> bool:
    """Whether numbers of this name are codes of units or classes: `fcode`, `distcod`, `zip`."""
    parts = parts_of_name(name)
    return bool(parts) and _CODE.fullmatch(parts[-1]) is not None


def numbers_of_units(name: str, whole: bool, distinct: int) -> bool:
    """Whether a column of text, or of whole numbers if `whole`, is by its name one of numbers of units, and
    has more values than classes of units have.
    """
    return (names_a_unit(name) and distinct >= MANY_UNITS) or (
        whole and names_codes(name) and distinct > FEW_VALUES
    )


def nearly_unique(distinct: int, present: int) -> bool:
    """Whether nearly every record that has a value has one of its own."""
    return present > 1 and distinct >= NEARLY_ALL * present


def parts_of_name(name: str) -> list[str]:
    """The parts of a name, such as `person` and `id`, in small letters without accents.

    Signs, digits and capitals separate them.
    """
    plain = (
        "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
        .replace("ø", "o")
        .replace("ł", "l")
    )
    parted = re.sub(r"(?<=[a-zß])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    parted = re.sub(r"(?i)\be[-_. ]mail", "email", parted)
    return re.findall(r"[^\W\d_]+", parted.casefold())
