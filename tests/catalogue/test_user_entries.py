"""Entries of the user's own, and what is said about mistakes in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from distlint.catalogue.catalogue import Catalogue, CatalogueError
from distlint.catalogue.entries import FORMS, GROUP_KINDS, KINDS, RESULTS, TAGS, UNIFORM_VALUES
from distlint.catalogue.schema import FILE_KEYS, TABLES, expand_braces

DOCUMENT = Path(__file__).parents[2] / "docs" / "catalogue.md"

Config = Mapping[str, object]


def load(config: Config, roots: tuple[str, ...] = ()) -> Catalogue:
    return Catalogue.load(roots, [config])


def test_a_wrapper_outside_the_project() -> None:
    config: Config = {"collective": [{"call": "mypkg.dist.sync_all", "kind": "barrier"}]}
    entry = load(config).lookup("mypkg.dist.sync_all")
    assert entry is not None
    assert entry.collective is not None
    assert (entry.collective.kind, entry.collective.framework) == ("barrier", "user")
    assert Catalogue.load(()).lookup("mypkg.dist.sync_all") is None
    assert "sync_all" in load(config).event_names


def test_a_row_replaces_the_shipped_one() -> None:
    name = "accelerate.Accelerator.save_state"
    config: Config = {"collective": [{"call": name, "kind": "checkpoint"}]}
    shipped = Catalogue.load({"accelerate"}).lookup(name)
    own = load(config, ("accelerate",)).lookup(name)
    assert shipped is not None
    assert shipped.collective is not None
    assert shipped.collective.only_under
    assert own is not None
    assert own.collective is not None
    assert own.collective.only_under == ()


def test_a_row_replaces_the_shipped_one_by_an_alias() -> None:
    alias = "torch.distributed.distributed_c10d.barrier"
    catalogue = load({"neutral": [{"call": alias}]})
    for name in (alias, "torch.distributed.barrier"):
        entry = catalogue.lookup(name)
        assert entry is not None
        assert entry.neutral is not None
        assert entry.collective is None


def test_neutral_and_collective_exclude_each_other() -> None:
    silenced = load({"neutral": [{"call": "torch.distributed.barrier"}]})
    entry = silenced.lookup("torch.distributed.barrier")
    assert entry is not None
    assert entry.collective is None
    assert entry.neutral is not None
    assert "barrier" in silenced.event_names, "other entries end in that word too"
    woken = load({"collective": [{"call": "torch.save", "kind": "checkpoint"}]})
    entry = woken.lookup("torch.save")
    assert entry is not None
    assert entry.collective is not None
    assert entry.neutral is None


def test_rank_uniform_and_local_exclude_each_other() -> None:
    entry = load({"uniform": [{"env": "LOCAL_RANK"}]}).env("LOCAL_RANK")
    assert entry is not None
    assert entry.rank is None
    assert entry.uniform is not None
    catalogue = load({"uniform": [{"name": "rank"}]})
    assert catalogue.rank_name("rank") is None


def test_other_facets_stay() -> None:
    name = "torch.nn.parallel.DistributedDataParallel"
    entry = load({"neutral": [{"call": name}]}).lookup(name)
    assert entry is not None
    assert entry.cls is not None
    assert entry.cls.unwraps == "module"


def test_own_classes_build_on_shipped_ones() -> None:
    catalogue = load(
        {
            "class": [
                {
                    "name": "lab.Runner",
                    "bases": ["accelerate.Accelerator"],
                    "hints": ["lab_runner"],
                },
                {"name": "lab.metrics.*", "bases": ["torchmetrics.Metric"]},
            ],
            "aliases": {"laboratory": "lab"},
        },
        ("accelerate", "torchmetrics"),
    )
    assert catalogue.hint("lab_runner") == "lab.Runner"
    entry = catalogue.member("laboratory.Runner", "is_main_process")
    assert entry is not None
    assert entry.rank is not None
    entry = catalogue.member("lab.metrics.Recall", "compute")
    assert entry is not None
    assert entry.collective is not None


def test_other_keys_of_the_configuration_are_left_alone() -> None:
    assert load({"select": ["DST101"], "neutral": [{"call": "a.b"}]}).lookup("a.b") is not None


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[rank]]\ncall = "lab.who"\nscope = "local"\n')
    entry = Catalogue.load((), [path]).lookup("lab.who")
    assert entry is not None
    assert entry.rank is not None
    assert entry.rank.scope == "local"
    path.write_text('[[rank]]\ncall = "lab.who"\n')
    entry = Catalogue.load((), [path]).lookup("lab.who")
    assert entry is not None
    assert entry.rank is not None
    assert entry.rank.scope == "global", "an edited file is read again"


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"call": "a.b", "knd": "barrier"}, "unknown key 'knd'; did you mean 'kind'?"),
        ({"call": "a.b", "kind": "all_reduse"}, "did you mean 'all_reduce'?"),
        ({"call": "a.b", "kind": "barrier", "form": "invok"}, "did you mean 'invoke'?"),
        ({"call": "a.b", "kind": "barrier", "only_under": ["fdsp"]}, "did you mean 'fsdp'?"),
        ({"call": "a.b", "kind": "barrier", "only_under": "fsdp"}, "must be a list of strings"),
        ({"call": "a.b", "kind": "barrier", "result": "unifrom"}, "did you mean 'uniform'?"),
        ({"call": "a.b", "kind": "barrier", "group_kind": "tensor"}, "'tensor' is unknown"),
        ({"call": "a.b"}, "missing key 'kind'"),
        ({"kind": "barrier"}, "requires 'call'"),
        ({"call": "", "kind": "barrier"}, "call is empty"),
        ({"call": 3, "kind": "barrier"}, "call must be a name or a list of names"),
        ({"call": "a.b", "kind": "barrier", "note": 3}, "note must be a string"),
        ({"call": "a.b", "kind": "barrier", "root_default": True}, "must be an integer"),
        ({"call": "a.b", "kind": "barrier", "group": "pg"}, "the entry has no 'params'"),
        (
            {"call": "a.b", "kind": "barrier", "params": ["group"], "group": "gruop"},
            "unknown parameter 'gruop' in group; did you mean 'group'?",
        ),
        (
            {"call": "a.b", "kind": "barrier", "params": ["x"], "only_with": ["y=True"]},
            "unknown parameter 'y' in only_with",
        ),
        (
            {"call": "a.b", "kind": "barrier", "params": ["x"], "only_with": ["x"]},
            'must have the form "parameter=literal"',
        ),
        (
            {"call": "a.b", "kind": "barrier", "params": ["x"], "not_with": ["x=yes"]},
            "'yes' is not a Python literal",
        ),
        (
            {"call": ["a.b", "a.c"], "kind": "barrier", "aliases": ["d.e"]},
            "an entry with several names cannot have aliases",
        ),
        ("barrier", "must be a table"),
    ],
)
def test_mistakes_in_a_row(row: object, complaint: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        load({"collective": [row]})
    assert complaint in str(caught.value)
    assert "[tool.distlint]: [[collective]]" in str(caught.value), "says where"
    if isinstance(row, dict) and row.get("call"):
        assert repr(row["call"]) in str(caught.value), "says which row"


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"rank": [{"call": "a.b", "scope": "locl"}]}, "did you mean 'local'?"),
        ({"rank": [{"call": "a.b", "env": "X"}]}, "requires one of ['call', 'env', 'name']"),
        ({"uniform": [{"call": "a.b", "value": "world"}]}, "did you mean 'world_size'?"),
        ({"local": [{"call": "a.b"}]}, "missing key 'why'"),
        ({"local": [{"call": "a.b", "why": "x", "weak": 1}]}, "must be true or false"),
        ({"local": [{"name": "x", "why": "y"}]}, "requires 'call' or 'env'"),
        ({"guard": [{"name": "a.b", "runs_on": "first"}]}, "'first' is unknown"),
        ({"class": [{"name": "A.B", "attributes": {"x": 1}}]}, "must be a table of strings"),
        ({"class": [{"name": "A.B", "tagged_by": {"x": "zero4"}}]}, "did you mean 'zero3'?"),
        ({"collective": {"call": "a.b"}}, "must be a list of tables: [[collective]]"),
        ({"aliases": {"a": 1}}, "'aliases' must be a table of strings"),
    ],
)
def test_mistakes_in_other_tables(config: Config, complaint: str) -> None:
    with pytest.raises(CatalogueError, match=re.escape(complaint)):
        load(config)


def test_mistakes_in_a_file_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    for text, complaint in (
        ("[[colective]]\n", "unknown table 'colective'; did you mean 'collective'?"),
        ("collective = \n", "invalid TOML"),
        ('[[neutral]]\ncal = "x"\n', "requires 'call'"),
    ):
        path.write_text(text)
        with pytest.raises(CatalogueError, match=re.escape(complaint)) as caught:
            Catalogue.load((), [path])
        assert str(path) in str(caught.value)
    with pytest.raises(CatalogueError, match="cannot read file"):
        Catalogue.load((), [tmp_path / "missing.toml"])


def test_braces() -> None:
    assert expand_braces("a.b") == ["a.b"]
    assert expand_braces("{a,b}.c.{d,e}") == ["a.c.d", "a.c.e", "b.c.d", "b.c.e"]


def documented_toml() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


def test_the_documented_example_works(tmp_path: Path) -> None:
    (example,) = documented_toml()
    path = tmp_path / "example.toml"
    path.write_text(example)
    catalogue = Catalogue.load((), [path])
    cluster = catalogue.hint("cluster")
    assert cluster == "mycluster.dist.Cluster"
    for member, facet in (("is_head", "rank"), ("any", "collective"), ("head_first", "first")):
        assert getattr(catalogue.member(cluster, member), facet) is not None


def test_the_document_names_every_table_key_and_word() -> None:
    words = set(re.findall(r"`([^`\n]+)`", DOCUMENT.read_text()))
    words |= {word for phrase in words for word in re.findall(r"\w+", phrase)}
    keys = {key for table in TABLES.values() for key in (*table.subjects, *table.fields)}
    vocabulary = {*KINDS, *FORMS, *GROUP_KINDS, *RESULTS, *TAGS, *UNIFORM_VALUES}
    assert {*TABLES, *FILE_KEYS, *keys, *vocabulary} - words == set()
