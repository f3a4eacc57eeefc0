"""DST811: keys that Accelerate does not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.catalogue.settings import nearest
from distlint.fixers.settings import renamed
from distlint.rules.base import Example, SettingsRule
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.values import Entry, Mapping

STATIC = "Accelerate's launcher reads it, not the script"

_LEGACY = frozenset({"fp16", "dynamo_backend"})
_PREFIXES = {"fsdp_config": "fsdp_", "fp8_config": "fp8_", "dynamo_config": "dynamo_"}
_CALLED = {
    "amax_history_length": "amax_history_len",
    "fp8_amax_history_length": "fp8_amax_history_len",
    "amax_compute_algorithm": "amax_compute_algo",
    "fp8_amax_compute_algorithm": "fp8_amax_compute_algo",
    "optimization_level": "opt_level",
}


class UnknownAccelerateKey(SettingsRule):
    """Accelerate's configuration has a key that Accelerate does not know.

    ## What it finds

    Keys in a file for `accelerate launch --config_file` that no version of Accelerate knows which
    the project may run with: at the top (error), and in sections such as `fsdp_config` and
    `deepspeed_config` (warning).

    ## Why it matters

    For an unknown key at the top `accelerate launch` raises. An unknown one in a section is passed
    over without a word: `zero_stagee: 3` trains at the default stage.

    ## What to do

    Write the key that was meant, or delete it.

    ## Fix

    Unsafe: a key that is at most two letters off is renamed. The run then does something that it
    did not do before.

    ## When it is silent

    - Keys of `fsdp_config`, `fp8_config` and `dynamo_config` with or without their prefix.
    - Files for SageMaker, whose keys are others, and the old keys that Accelerate rewrites.
    """

    code = "DST811"
    name = "acc-unknown-key"

    good = (
        Example(
            title="With and without prefix",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_processes: 8
fsdp_config:
  fsdp_version: 2
  offload_params: false
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="One raises, the other is passed over",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
mixed_precision: bf16
num_proceses: 8  # expect: DST811
deepspeed_config:
  zero_stagee: 3  # expect: DST811
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("accelerate"):
            root = config.root
            sagemaker = root.value("compute_environment") == "AMAZON_SAGEMAKER"
            known = page.accelerate.values("sagemaker" if sagemaker else "keys")
            for entry in root.entries:
                if entry.key not in known and entry.key not in _LEGACY:
                    yield self._finding(page, root, entry, known, "")
                elif isinstance(entry.value, Mapping) and not sagemaker:
                    yield from self._section(page, entry.key, entry.value)

    def _section(self, page: Page, name: str, section: Mapping) -> Iterator[Finding]:
        known = page.accelerate.section(name)
        if not known:
            return
        prefix = _PREFIXES.get(name, "")
        every = [*known, *(key[len(prefix) :] for key in known if prefix)]
        for entry in section.entries:
            if not entry.merged and entry.key not in every:
                yield self._finding(page, section, entry, every, name)

    def _finding(
        self, page: Page, mapping: Mapping, entry: Entry, known: list[str], section: str
    ) -> Finding:
        meant = _CALLED.get(entry.key) or nearest(entry.key, known, 2)
        if meant in mapping.keys:
            meant = None
        hint = f"; did you mean `{meant}`?" if meant else ""
        where = f"`{section}`" if section else "Accelerate's configuration"
        return self.finding(
            page,
            f"{where} has no key `{entry.key}`{hint}",
            Severity.WARNING if section else Severity.ERROR,
            (entry.start, entry.end),
            effect="`accelerate launch` passes over it without a word"
            if section
            else "`accelerate launch` raises a ValueError",
            advice=f"write `{meant}`" if meant else "delete it",
            fix=renamed(page.sheet, "unsafe", entry, meant) if meant else None,
        )
