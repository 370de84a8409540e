"""Rules of the house that no other tool checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from benchmarks import core_stub, method_pages

from microagg import _core
from microagg.methods.catalogue import ALIASES, MEANINGS, METHODS
from microagg.methods.recipe import settings_of, stage_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "microagg"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = sorted(
    path
    for folder in (ROOT / "src", ROOT / "cpp")
    for path in folder.rglob("*")
    if path.suffix in {".py", ".pyi", ".hpp", ".cpp", ".h", ".txt", ".md"}
)
STUB = ast.parse((PACKAGE / "_core.pyi").read_text())

MAY_IMPORT_CORE = {
    PACKAGE / "prepare" / "units.py",
    PACKAGE / "aggregate" / "groups.py",
    PACKAGE / "aggregate" / "existing.py",
    PACKAGE / "aggregate" / "tables.py",
    PACKAGE / "measure" / "linkage.py",
}
ROOT_NAMES = {"__version__"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports_of(path: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of every import in a file, inside functions too; the name of `import x` is ''."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively"
            yield from ((node.module or "", alias.name) for alias in node.names)


@cache
def imports() -> dict[Path, list[tuple[str, str]]]:
    """Of all modules."""
    return {path: list(imports_of(path)) for path in MODULES}


def is_submodule(name: str) -> bool:
    return (
        name == "_core" or (PACKAGE / f"{name}.py").is_file() or (PACKAGE / name / "__init__.py").is_file()
    )


def test_who_imports_the_core() -> None:
    others = [
        name_of(path)
        for path, own in imports().items()
        if PACKAGE / "methods" not in path.parents
        and path not in MAY_IMPORT_CORE
        and any(
            module.startswith("microagg._core") or (module, name) == ("microagg", "_core")
            for module, name in own
        )
    ]
    assert others == []


def test_only_submodules_are_imported_from_the_package_root() -> None:
    others = [
        f"{name_of(path)} imports {name or module}"
        for path, own in imports().items()
        for module, name in own
        if module == "microagg" and not is_submodule(name) and name not in ROOT_NAMES
    ]
    assert others == []


def public(names: Iterator[str] | list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_stub_and_core_have_the_same_names() -> None:
    stubbed = public([node.name for node in STUB.body if isinstance(node, ast.FunctionDef | ast.ClassDef)])
    assert stubbed == public(dir(_core))


@pytest.mark.parametrize(
    "node", [node for node in STUB.body if isinstance(node, ast.ClassDef)], ids=lambda n: n.name
)
def test_stub_and_core_classes_have_the_same_members(node: ast.ClassDef) -> None:
    stubbed = {
        target.id
        for item in node.body
        if isinstance(item, ast.Assign)
        for target in item.targets
        if isinstance(target, ast.Name)
    } | {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    assert public(sorted(stubbed)) == public(list(vars(getattr(_core, node.name))))


def test_the_stub_of_the_core_is_what_nanobind_writes() -> None:
    pytest.importorskip("nanobind", reason="without nanobind no stub can be generated and compared")
    written = core_stub.STUB.read_text(encoding="utf-8")
    assert written == core_stub.stub(), "build the core, then run python -m benchmarks.core_stub"


def test_no_machine_paths_and_no_leftovers() -> None:
    unwanted = (
        r"(?<![\w.<])/(home|root|work|tmp|Users|mnt|opt|var)/",
        r"[A-Z]:\\\\?\w",
        r"\b(TODO|FIXME|XXX|HACK)\b",
    )
    files = [name_of(path) for path in SOURCES if re.search("|".join(unwanted), path.read_text())]
    assert files == []


def files_in(text: str) -> list[str]:
    """Files and folders that a document names in code; `<name>` in one of them stands for any."""
    names = re.findall(r"`([\w./<>-]+)`", text)
    return [name for name in names if re.search(r"(\.(py|pyi|md|toml|html|[ch]pp)|/)$", name)]


def exists(name: str) -> bool:
    """From the root of the repository or of the package."""
    pattern = re.sub(r"<\w+>", "*", name.rstrip("/"))
    return any(any(folder.glob(pattern)) for folder in (ROOT, PACKAGE))


def test_files_of_the_recipes_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipes = text.partition("## Recipes")[2].partition("\n## ")[0].split("\n### ")[1:]
    titles = [recipe.partition("\n")[0] for recipe in recipes]
    for subject in ("method", "measure", "format", "option", "rule", "message"):
        assert any(subject in title for title in titles), subject
    for title, recipe in zip(titles, recipes, strict=True):
        assert files_in(recipe), title
        assert [name for name in files_in(recipe) if not exists(name)] == [], title


def test_files_of_the_architecture_and_the_decisions_exist() -> None:
    known = {path.name for folder in ("src", "cpp", "tests") for path in (ROOT / folder).rglob("*.*")}
    for page in (ROOT / "ARCHITECTURE.md", *(ROOT / "docs" / "decisions").glob("*.md")):
        names = files_in(page.read_text(encoding="utf-8"))
        assert [name for name in names if name not in known and not exists(name)] == [], page.name


def test_every_method_has_one_section_or_page() -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in method_pages.FOLDER.glob("*.md")}
    sections = [name for text in pages.values() for name in method_pages.methods_of(text)]
    titles = [text.partition("\n")[0] for text in pages.values() if not method_pages.methods_of(text)]
    own = [name for name in METHODS if any(title.endswith(f"(`{name}`)") for title in titles)]
    assert sorted([*sections, *own]) == sorted(METHODS)


def test_tables_of_the_methods_are_those_of_the_catalogue() -> None:
    for page in method_pages.FOLDER.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert text == method_pages.current(text), f"python -m benchmarks.method_pages ({page.name})"


def test_every_setting_has_a_meaning_and_every_meaning_a_setting() -> None:
    keys = {(name, key) for name in METHODS for key in settings_of(name)}
    for name, key in sorted(keys):
        assert method_pages.meaning_of(name, key)
    known = {key for _, key in keys} | {f"{name}.{key}" for name, key in keys}
    assert set(MEANINGS) <= known


def test_an_alias_is_no_method_and_makes_the_same_stage() -> None:
    assert not set(ALIASES) & set(METHODS)
    for alias, name in ALIASES.items():
        assert stage_of(alias) == stage_of(name)
