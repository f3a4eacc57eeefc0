"""``ast`` and libcst give the same IR, and libcst is asked where there is something to show."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import libcst
import pytest

from benchmarks.lowering import compared, texts
from distlint.analyzer import ir
from distlint.analyzer.ir.lower import by_ast, by_libcst
from distlint.engine.run import check_stdin
from distlint.engine.settings import Resolver
from distlint.rules.registry import rules
from distlint.source.document import Document, DocumentError

ROOT = Path(__file__).parents[2]

TEXTS = [
    "x[a,]\n",
    "x[(a,b)]\n",
    "x[()]\n",
    "x[*a]\n",
    "x[*a, b]\n",
    "x[a:b, c]\n",
    "x[(a,b),]\n",
    "x[(a,b),c]\n",
    "x[y:=1]\n",
    "del a, b\n",
    "del (a, b), c\n",
    "del (a),\n",
    "del ((a,b),)\n",
    "del [a]\n",
    "del ()\n",
    "f(a=1, *b, **c, d=2)\n",
    "f(*a, b, *c, k=1, *d)\n",
    "class A(x=1, *b): pass\n",
    "class A(*b, **k): pass\n",
    "def f(a, /, b: int = 1, *args: str, c: 'x' = 2, d, **k): yield\n",
    "def f(a: 1, b: None, c: 'a' 'b', d: f'x', e: (x), g: ...): pass\n",
    "lambda a, *b, c=1, **d: a\n",
    "lambda: (yield)\n",
    "x = 'a' 'b'\n",
    "x = 'a' f'b{c}' 'd' f'{e}{g!r:>{w}}'\n",
    "x = f'{a=}'\n",
    "x = f'{ a = !r}'\n",
    "x = f'{a = :>3}'\n",
    "x = rf'\\d{a}\\n' 'q'\n",
    "x = f'\\n{a}\\x41{{}}'\n",
    "x = f'\\N{DASH}{a}'\n",
    "x = f'\\N{EM DASH}{a}'\n",
    "x = '\\N{EM DASH}'\n",
    "x = b'a' b'\\x00'\n",
    "x = f''\n",
    "x = f'' ''\n",
    "x = ''\n",
    "x = 'a' '' f''\n",
    "x = u'é' 'b'\n",
    "x = '\\ud800'\n",
    'x = f"""a"{b}" c"""\n',
    'x = f"""\\\n"{b}"\\""""\n',
    'x = f"""a\r\nb{c}"""\r\n',
    'x = """a\r\nb\\\r\nc"""\r\n',
    'x = f"\\{a}"\n',
    "'doc' 'more'\n",
    "b'x'\n",
    "f'x'\n",
    "...\n",
    "1\n",
    "-1\n",
    "x = -1 + 2j\n",
    "x = 1_000 + 0xFF + 0o7 + 0b1 + 1e400\n",
    "with (a, b): pass\n",
    "with (a): pass\n",
    "with (a, b) as c: pass\n",
    "with (a as b, c as (d, e),): pass\n",
    "with (yield): pass\n",
    "with a as b.c, d as e[0]: pass\n",
    "with (open(x)) as f, (y): pass\n",
    "if a: pass\nelif b: pass\nelif c: pass\nelse: pass\n",
    "if a:\n  x\nelse:\n  if b:\n    y\n  elif c: z\n  else: w\n",
    "if a:\n  x\nelse:\n  if b:\n    y\n  q\n",
    "\x0cif a: x\nelif b: y\n",
    "try: a\nexcept (B, C) as e: pass\nexcept D: pass\nelse: x\nfinally: y\n",
    "try: a\nexcept* B as e: pass\n",
    "a and b and c or d and (e and f)\n",
    "(a and b) and c\n",
    "(a or b) or (c or d)\n",
    "not a\n",
    "a < b <= c != d is not e not in f\n",
    "x = a if b else c if d else e\n",
    "a = b = *c, d = e\n",
    "a: int\na: int = 1\n(a): int = 2\na.b: x = 3\n",
    "a @= b\na //= b\na >>= b\na **= b\n",
    "for x in *a, b: pass\nelse: y\n",
    "while a: break\nelse: continue\n",
    "for (x, [y, *z]) in q: pass\n",
    "match (a, b):\n  case a, b: c\n",
    "match *a, b:\n  case (x): c\n",
    "match = 1\nmatch.x\nmatch(y)\ncase = 2\ntype = 3\n",
    "ﬁ = 1\nx.ﬁ(ﬀ=2)\nimport ﬁ.ﬀ as ﬂ\ndef ﬁ(ﬀ, *ﬂ): global ﬃ\n",
    "class A[T: int = str]: pass\n",
    "type X[T] = int\n",
    "def f[T](a: T) -> T: pass\n",
    "@a.b(c)\n@d\nclass X: pass\n@a\n@b(lambda: 1)\nasync def f(): pass\n",
    "{**a, 'b': c, **{1: 2}}\n{1, *a}\n[*a, b]\n(*a,)\n",
    "{a: b for a, b in c if d}\n{a for a in b}\n(a for a in b)\nf(a for a in b)\n",
    "print(x := 1)\n[y := 1, y**2]\n",
    "raise\nraise A from b\nraise SystemExit(1)\nraise SystemExit\n",
    "assert a, b\n",
    "x = (yield)\n",
    "print >>a, b\n",
    "x = 'a' \\\n  'b'\n",
    "x = ('a'\n  'b'  # c\n  f'{d}')\n",
    "raise SystemExit(1); x = 1; y\n",
    "\ufeffx = 1\n",
    "x = 1\r\ny = 2\rz = 3\n",
    "x = '\\d'\n",
    "x = 1if y else 2\n",
    "x = 0xfor y\n",
    "if 1:\n\tx\n        y\n",
    "x = f'{a[\"b\"]}'\n",
    "x = f'{a['b']}'\n",
    "x = f'{a!s:{b}{c}}'\n",
    "x = f'{\n a\n}'\n",
    "x = f'{lambda: 1}'\n",
    "x = f'{(lambda: 1)}'\n",
    "x = f'{a:%H:%M}'\n",
    "x = f'{{}}'\n",
    "x = f'{{{a}}}'\n",
    "x = f'{a,b}'\n",
    "x = f'{*a, b}'\n",
    "x = f'{yield_}'\n",
    "x=f'{f\"{a}\"}'\n",
    "x = F'{a}' R'\\n' Rb''\n",
    "x = f'{d(k=1, *v)}'\n",
    "async = 1\n",
    "exec 'x'\n",
    "x = `a`\n",
    "a <> b\n",
    "nonlocal x\nglobal y\n",
    "def f(a, (b, c)): pass\n",
    "0777\n",
    "x = b'é'\n",
    "except_ = 1\n",
    "def f(*, a): pass\nlambda *, a: 1\n",
    "x = a if b else(yield)\n",
    "x = *a,\n",
    "x = *a\n",
    "print(*a, **b)\n",
    "return\n",
    "@x\ndef f(): pass\n",
    "@(yield)\ndef f(): pass\n",
    "x = [\n1,\n\x0c2]\n",
    "x = 1 \\\n",
    "x = 1\\\n+2",
    "",
    "\n",
    "#x",
    "\\\n",
    "  \n\t\n",
    "x;\n",
    "x;y;\n",
    "if x:pass;y\n",
    "class A: x;y\n",
    "℘ = 1\na·b = 2\n",
    "x = a\xa0b\n",
    "x =\t\x0c1\n",
    "lambda x, y=1, /, z=2: 0\n",
    "lambda *a, **k: (a, k)\n",
    "for x in y: pass\nfor x in (yield): pass\n",
    "x = yield_ = 1\n",
    "async def f(): [x async for x in y]; return await x ** 2\n",
    "-x ** -y\n",
    "x = a.b.c[d](e)[f:g:h, ::, :i]\n",
    "print(f'{x!r:{y!s:>{z}}}')\n",
    "try:\n  a\nfinally:\n  b\n",
    "a: (yield) = 1\n",
    "with a, b as c: pass\n",
    "def f() -> (yield): pass\n",
    "def f(a=(yield)): pass\n",
    "class A(B, metaclass=C): 'doc'; x: int = 1; y = z = 2\n  \n",
]
MATCH = """\
match x:
  case 1 | 'a' 'b' | None: a
  case [a, *b, (c, d)] if e: q
  case {'k': v, **r}: w
  case P(a, b=c, d=[e]) as z: m
  case -1 | 1 + 2j | a.b: y
  case (1 | 2) as h: y
  case [*_]: t
  case str(): u
  case x: y
"""
ASYNC = """\
async def f():
  async with a as b: pass
  async for x in y: await z
  return [a async for a in b if c if d for e in f]
"""
RESULTS = """\
def f():
  return *a, b
  yield a, b
  yield from c
  x = yield
  global p, q
"""
TEXTS += [MATCH, ASYNC, RESULTS]
DEEP = {
    "calls": "x = " + "f(" * 88 + "[a, (b, c)]" + ")" * 88,
    "subscripts": "x = " + "f(" * 89 + "a[(b, c)]" + ")" * 89,
    "attributes": "x" + ".a" * 500,
    "operators": "x = " + "a + " * 120 + "1",
    "prefixes": "x = " + "not " * 120 + "1",
    "strings": "x = " + " ".join(["'a'"] * 200),
    "f-strings": "x = " + " ".join(["f'{a}'"] * 200),
    "blocks": "".join(" " * depth + "if a:\n" for depth in range(95)) + " " * 95 + "x",
    "long numbers": f"x = 0x{'f' * 6000}, {'9' * 5000}",
}

HANG = """\
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.barrier()
"""
QUIET = HANG.replace("if dist.get_rank() == 0:", "if True:")
REFUSED = "class A(metaclass=type, *()): pass\n"
"""What Python reads and libcst does not."""


def codes(text: str) -> list[str]:
    return [
        finding.code for finding in check_stdin(text.encode(), Path("a.py"), Resolver()).findings
    ]


class TestEqualIR:
    @pytest.mark.parametrize("text", TEXTS)
    def test_of_every_construct(self, text: str) -> None:
        assert compared(text, Counter())[0] != "different"

    @pytest.mark.parametrize("text", TEXTS)
    def test_inside_a_function(self, text: str) -> None:
        inside = "def f(a, b):\n" + "".join(f"  {line}\n" for line in text.split("\n"))
        word, what = compared(inside, Counter())
        assert word != "different", what

    @pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
    def test_at_the_limits(self, text: str) -> None:
        assert compared(text, Counter())[0] in {"equal", "libcst only"}

    @pytest.mark.parametrize("folder", ["distlint", "benchmarks", "examples", "tests"])
    def test_of_the_own_sources(self, folder: str) -> None:
        counts: Counter[str] = Counter()
        every = list(texts(ROOT / folder))
        for path, text in every[:: min(20, max(1, len(every) // 20))]:  # more in the campaign
            word, what = compared(text, Counter())
            assert word in {"equal", "libcst only", "neither", "not parsed"}, (path, what)
            counts[word] += 1
        assert counts["equal"] > 0.9 * counts.total()

    def test_of_the_examples_of_rules(self) -> None:
        for rule in rules().values():
            for example in (*rule.bad, *rule.good):
                word, what = compared(example.code, Counter())
                assert word not in {"different", "ast only"}, (rule.code, what)

    @pytest.mark.campaign
    def test_of_what_is_installed(self) -> None:
        """One file in 160; `python -m benchmarks.lowering` reads them all."""
        folders = {Path(warnings.__file__).parent, Path(pytest.__file__).parents[1]}
        paths = sorted({path for folder in folders for path in folder.rglob("*.py")})
        for path in paths[::160]:
            try:
                text = Document.read(path).text
            except DocumentError:
                continue
            word, what = compared(text, Counter())
            assert word != "different", (path, what)

    @pytest.mark.campaign
    @pytest.mark.parametrize("folder", ["distlint", "tests"])
    def test_of_more_own_sources(self, folder: str) -> None:
        for path, text in list(texts(ROOT / folder))[1::2]:
            word, what = compared(text, Counter())
            assert word != "different", (path, what)


class TestMeaning:
    def test_strings_side_by_side_are_one(self) -> None:
        (statement,) = by_libcst("x = 'a' 'b'").body
        assert isinstance(statement, ir.Assign)
        assert isinstance(statement.value, ir.Literal)
        assert statement.value.value == "ab"

    def test_names_are_compared_as_python_does(self) -> None:
        (statement,) = by_libcst("\ufb01 = 1").body
        assert isinstance(statement, ir.Assign)
        assert isinstance(statement.targets[0], ir.Name)
        assert statement.targets[0].id == "fi"

    def test_no_warning_of_the_checked_code_comes_out(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert by_ast("x = '\\d', 1if y else 2") is not None
            assert by_libcst("x = '\\d'").sites

    def test_bytes_beside_text_are_a_mistake(self) -> None:
        assert codes(HANG + "x = 'a' b'b'\n") == ["DST000"]


class TestWhoReads:
    def test_nobody_asks_libcst_about_a_file_without_findings(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        asked: list[str] = []
        parse = libcst.parse_module

        def noted(text: str) -> libcst.Module:
            asked.append(text)
            return parse(text)

        monkeypatch.setattr(libcst, "parse_module", noted)
        assert codes(QUIET) == []
        assert asked == []
        assert codes(HANG) == ["DST101"]
        assert asked == [HANG]

    def test_what_libcst_cannot_place_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert codes(HANG + REFUSED) == ["DST000"]

    def test_what_libcst_cannot_read_but_need_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert codes(QUIET + REFUSED) == []

    def test_an_import_that_libcst_cannot_place_is_not_followed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "pyproject.toml").touch()
        (tmp_path / "sync.py").write_text(SYNC + REFUSED)
        assert codes(CALLER) == []
        (tmp_path / "sync.py").write_text(SYNC)
        assert codes(CALLER) == ["DST101"]

    @pytest.mark.skipif(sys.version_info >= (3, 12), reason="the running Python reads it")
    def test_a_newer_grammar_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert codes("type X = int\n" + HANG) == ["DST101"]


SYNC = """\
import torch.distributed as dist


def report():
    if dist.get_rank() == 0:
        dist.barrier()
"""
CALLER = """\
import torch.distributed as dist
from sync import report

dist.init_process_group("gloo")
report()
"""
