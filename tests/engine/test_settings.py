"""Configuration: which file is in force, what it may say, and what is said about mistakes."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from distlint.engine import config_file
from distlint.engine.errors import ConfigError
from distlint.engine.keys import KEYS, Key, schema
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver, Settings
from distlint.source.finding import Severity
from scripts.generate_configuration_docs import differences
from tests.engine.conftest import write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def settings(project: Path, toml: str = "", **overrides: object) -> Settings:
    if toml:
        (project / "distlint.toml").write_text(toml)
    return Resolver(Overrides(**overrides)).of_folder(project)  # type: ignore[arg-type]


def error(project: Path, toml: str, **overrides: object) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(project, toml, **overrides)
    return str(caught.value)


def test_without_configuration(project: Path) -> None:
    default = settings(project)
    assert default.config is None
    assert default.root == project
    assert default.fail_on is Severity.WARNING
    assert default.src == (project, project / "src")
    assert default.world == (2, 2)
    assert default.max_file_size == 2_000_000
    assert not default.preview


def test_everything_that_may_be_configured(project: Path) -> None:
    write(project, {"own.toml": "", "src/x.py": ""})
    found = settings(
        project,
        """
        select = ["DST1", "DST407"]
        extend-select = ["missing-drop-last"]
        ignore = ["DST108"]
        extend-ignore = ["DST109"]
        per-file-ignores = {"tests/*" = ["ALL"], "!src/**.py" = ["DST102"]}
        exclude = ["third_party"]
        extend-exclude = ["*.gen.py"]
        preview = true
        severity = {DST1 = "warning", DST101 = "error"}
        fail-on = "error"
        src = ["src", "lib"]
        world = [1, 8]
        catalogue = ["own.toml"]
        runtime = "mypkg.dist_utils"
        rules = []
        versions = {torch = "2.4"}
        unsafe-fixes = true
        baseline = "baseline.json"
        cache-dir = ".cache"
        max-file-size = 0
        allow-env = ["NCCL_OFI_PROTOCOL"]

        [[collective]]
        call = "mypkg.comm.sync"
        kind = "barrier"
        """,
    )
    assert {"DST101", "DST407", "DST201"} <= found.selection.codes
    assert found.selection.codes.isdisjoint({"DST108", "DST109", "DST202"})
    assert found.ignored_in(project / "tests" / "a.py") >= {"DST101"}
    assert found.ignored_in(project / "src" / "a.py") == set()
    assert found.ignored_in(project / "tools" / "a.py") == {"DST102"}
    assert found.severities["DST102"] is Severity.WARNING
    assert found.severities["DST101"] is Severity.ERROR
    assert found.fail_on is Severity.ERROR
    assert found.src == (project / "src", project / "lib")
    assert found.world == (1, 8)
    assert found.catalogue[0] == project / "own.toml"
    assert len(found.catalogue) == 2
    assert found.runtime == "mypkg.dist_utils"
    assert found.versions == {"torch": "2.4"}
    assert found.unsafe_fixes
    assert found.baseline == project / "baseline.json"
    assert found.cache_dir == project / ".cache"
    assert found.max_file_size == 0
    assert found.allow_env == ("NCCL_OFI_PROTOCOL",)
    assert [pattern.text for pattern in found.exclude] == ["third_party", "*.gen.py"]
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('slect = ["DST101"]', "distlint.toml: unknown key `slect`; did you mean `select`?"),
        ("max_file_size = 1", "unknown key `max_file_size`; did you mean `max-file-size`?"),
        ('colective = "x"', "unknown key `colective`; did you mean `collective`?"),
        ("zzz = 1", "distlint.toml: unknown key `zzz`"),
        ('select = "DST101"', "`select` must be a list of strings, not 'DST101'"),
        ("select = [101]", "`select` must be a list of strings"),
        ('ignore = ["DST1O1"]', "`ignore`: unknown rule `DST1O1`; did you mean `DST1"),
        ('preview = "yes"', "`preview` must be true or false, not 'yes'"),
        ('fail-on = "eror"', "`fail-on` must be one of info, warning, error, not 'eror'; did you"),
        ("fail-on = 3", "`fail-on` must be one of info, warning, error, not 3"),
        ('severity = {DST101 = "fatal"}', "`severity` must be one of info, warning, error"),
        ('severity = {DST999 = "error"}', "`severity`: unknown rule `DST999`"),
        ('per-file-ignores = ["x"]', "`per-file-ignores` must be a table"),
        ('per-file-ignores = {"x" = ["DST999"]}', "`per-file-ignores`: unknown rule `DST999`"),
        ("world = [2]", "`world` must be [nodes, processes per node], not [2]"),
        ("world = [1, 1]", "`world` must be between 2 and 64 ranks in total, not 1"),
        ("world = [true, 2]", "`world` must be [nodes, processes per node]"),
        ("max-file-size = -1", "`max-file-size` must be a number of bytes"),
        ("max-file-size = true", "`max-file-size` must be a number of bytes"),
        ('runtime = "my pkg"', "`runtime` must be the dotted name of a module"),
        ("versions = {torch = 2.4}", "`versions`.torch must be a version such as"),
        ('catalogue = ["no.toml"]', "`catalogue`: no such file: no.toml"),
        ('rules = ["no.py"]', "`rules`: no such file: no.py"),
        ('extend = "no.toml"', "`extend`: no such file: no.toml"),
        ('extend = "distlint.toml"', "`extend` is circular"),
        ('exclude = ["!"]', "distlint.toml: `exclude`: `!` is not a pattern"),
        ('exclude = ["!a"]', "`exclude`: `!a` cannot re-include"),
        ("select = [", "distlint.toml: invalid TOML: "),
        ('[[collective]]\nkind = "barrier"', "distlint.toml: [tool.distlint]: [[collective]]"),
    ],
)
def test_mistakes_name_the_file_the_key_and_what_was_meant(
    project: Path, toml: str, message: str
) -> None:
    assert message in error(project, toml)


def test_the_nearest_file_holds_whole(project: Path) -> None:
    write(
        project,
        {
            "pyproject.toml": '[tool.distlint]\nignore = ["DST101"]\nworld = [1, 4]\n',
            "sub/pyproject.toml": '[project]\nname = "has no table of ours"\n',
            "sub/deep/distlint.toml": 'ignore = ["DST102"]\n',
            "sub/deep/pyproject.toml": "[tool.distlint]\nworld = [1, 3]\n",
        },
    )
    resolver = Resolver()
    above = resolver.of_folder(project / "sub")
    assert above.config == project / "pyproject.toml"
    assert above.root == project
    deep = resolver.of_folder(project / "sub" / "deep" / "er")
    assert deep.config == project / "sub" / "deep" / "distlint.toml"
    assert "DST101" in deep.selection.codes
    assert deep.world == (2, 2)


def test_extend_is_explicit_and_relative_paths_stay_with_their_file(project: Path) -> None:
    write(
        project,
        {
            "shared/base.toml": 'src = ["lib"]\nignore = ["DST101"]\nextend-ignore = ["DST102"]\n'
            'extend-exclude = ["a"]\nworld = [1, 4]',
            "distlint.toml": 'extend = "shared/base.toml"\nignore = ["DST103"]\n'
            'extend-ignore = ["DST104"]\nextend-exclude = ["b"]\n',
        },
    )
    found = Resolver().of_folder(project)
    assert found.src == (project / "shared" / "lib",)
    assert found.world == (1, 4)
    assert "DST101" in found.selection.codes
    assert found.selection.codes.isdisjoint({"DST102", "DST103", "DST104"})
    assert [pattern.text for pattern in found.exclude][-2:] == ["a", "b"]


def test_a_mistake_in_an_extended_file_is_reported_there(project: Path) -> None:
    write(project, {"base.toml": "wrld = [1, 2]"})
    assert "base.toml: unknown key `wrld`" in error(project, 'extend = "base.toml"')
    write(project, {"base.toml": 'ignore = ["DST999"]'})
    assert "base.toml: `ignore`: unknown rule" in error(project, 'extend = "base.toml"')


def test_a_broken_pyproject_matters_only_if_it_may_be_ours(project: Path) -> None:
    write(project, {"pyproject.toml": "[tool.other\n"})
    assert settings(project).config is None
    write(project, {"pyproject.toml": "[tool.distlint\n"})
    assert "pyproject.toml: invalid TOML" in error(project, "")
    write(project, {"pyproject.toml": "[tool]\ndistlint = 1\n"})
    assert "`tool.distlint` must be a table" in error(project, "")


def test_the_command_line_comes_last(project: Path) -> None:
    toml = 'select = ["DST1"]\nfail-on = "error"\npreview = true\nexclude = ["a"]'
    found = settings(
        project,
        toml,
        layer=Layer(ignore=("DST101",)),
        fail_on=Severity.INFO,
        preview=False,
        exclude=("b",),
        extend_exclude=("c",),
    )
    assert "DST101" not in found.selection.codes
    assert "DST102" in found.selection.codes
    assert found.fail_on is Severity.INFO
    assert not found.preview
    assert [pattern.text for pattern in found.exclude] == ["b", "c"]


def test_isolated_and_explicit_files(project: Path) -> None:
    write(project, {"distlint.toml": "world = [1, 4]", "other.toml": "world = [1, 3]"})
    assert settings(project, isolated=True).world == (2, 2)
    assert settings(project, config=project / "other.toml").world == (1, 3)


def test_rules_of_the_users_own_have_codes_that_select_them(project: Path) -> None:
    example = 'Example(title="t", code="x  # expect: ACME001")'
    rule = (
        "from distlint.rules.api import Example, ScriptRule\n"
        "class Own(ScriptRule):\n"
        '    """Ours."""\n'
        '    code, name = "ACME001", "own-rule"\n'
        f"    good = bad = ({example},)\n"
    )
    write(project, {"tools/own.py": rule})
    found = settings(project, 'rules = ["tools/own.py"]\nselect = ["own-rule"]')
    assert "ACME001" in found.selection.codes
    write(project, {"tools/two.py": rule.replace("ACME001", "DST101")})
    refused = error(project, 'rules = ["tools/two.py"]', runs_rules=True)
    assert "codes that begin with DST are reserved for distlint" in refused
    write(project, {"tools/three.py": "import nothing_there"})
    assert "three.py:1: ModuleNotFoundError" in error(
        project, 'rules = ["tools/three.py"]', runs_rules=True
    )


def test_the_root_without_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A marker of a project, else the working folder, else what was named."""
    write(tmp_path, {"repo/setup.py": "", "repo/a/b/x.py": "", "loose/a/x.py": "", "cwd/x.py": ""})
    monkeypatch.chdir(tmp_path / "cwd")
    resolver = Resolver()
    resolver.named.append(tmp_path / "loose")
    assert resolver.of_folder(tmp_path / "repo" / "a" / "b").root == tmp_path / "repo"
    assert resolver.of_folder(tmp_path / "loose" / "a").root == tmp_path / "loose"
    assert resolver.of_folder(tmp_path / "cwd").root == tmp_path / "cwd"


def test_every_key_is_documented() -> None:
    assert {key.name for key in KEYS} == config_file.KEYS.keys()


def test_page_and_schema_are_up_to_date() -> None:
    assert differences() == [], "run: python -m scripts.generate_configuration_docs"


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_examples_follow_the_schema_and_are_taken(project: Path, key: Key) -> None:
    write(project, {"own.toml": "", "distlint.toml": ""})
    toml = f"{key.name} = {key.example}\n"
    Draft7Validator(schema()).validate(tomllib.loads(toml))
    write(project, {"sub/distlint.toml": toml, "sub/own.toml": ""})
    Resolver().of_folder(project / "sub")


@pytest.mark.parametrize(
    "toml",
    [
        "selct = []",
        "select = 'DST1'",
        "world = [1]",
        "world = [0, 2]",
        "preview = 1",
        "fail-on = 'never'",
        "severity = {DST1 = 'bad'}",
        "runtime = 'a-b'",
        "versions = {torch = 2}",
        "versions = {torch = 'new'}",
        "max-file-size = -1",
        "per-file-ignores = {'a' = 'DST1'}",
    ],
)
def test_the_schema_refuses_what_the_program_refuses(project: Path, toml: str) -> None:
    assert not Draft7Validator(schema()).is_valid(tomllib.loads(toml))
    assert error(project, toml)


def test_the_schema_knows_entries_for_the_catalogue() -> None:
    toml = '[[collective]]\ncall = "mypkg.comm.sync"\nkind = "barrier"\n'
    Draft7Validator.check_schema(schema())
    Draft7Validator(schema()).validate(tomllib.loads(toml))
