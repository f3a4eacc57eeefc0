"""DST617: a number of one rank, or one counted several times, taken for the whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import names
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._gathered import gathers
from distlint.rules.gradients._local_scores import LocalScore, may_score, scores_of_shards
from distlint.rules.gradients._logged_parts import logged_parts, trained_by_parts
from distlint.rules.gradients._reduced_again import reduced_totals
from distlint.rules.gradients._sample_counts import counted_fields
from distlint.rules.gradients._shard_means import means_of_shards
from distlint.rules.gradients._summed_over_ranks import added_means, own_counts
from distlint.rules.gradients._whole_counts import local_means, sums_over_all
from distlint.source.finding import Finding, Fix, Place, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locator, Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


_WANTED = frozenset({"all_reduce", "gather", "reduce", "DataLoader"})


def _is_sharded_near(module: Module) -> bool:
    """May the file, or one that it imports, load data or put results together?"""
    return any(not each.words.isdisjoint(_WANTED) for each in (module, *module.imports))


def _may_measure(objects: Objects) -> bool:
    """Is there a loop, or a function that computes a score?"""
    loops = (isinstance(each.statement, (ir.For, ir.While)) for each in objects.points)
    return may_score(objects) or any(loops)


class LocalMetricAsGlobal(SourceRule):
    """A metric is computed incorrectly from the values of the individual ranks.

    ```python
    total = torch.zeros(1, device=device)
    for batch in val_loader:
        total += correct(model, batch)
        dist.all_reduce(total)  # bad: sums again what was already summed
    accuracy = total / len(dataset)
    ```

    ## Use instead

    ```python
    total = torch.zeros(1, device=device)
    for batch in val_loader:
        total += correct(model, batch)
    dist.all_reduce(total)
    accuracy = total / len(dataset)
    ```

    Gather predictions with `accelerator.gather_for_metrics`, which drops duplicated samples. For a
    mean, reduce both the sum and the count, then divide.

    ## Why is this bad?

    The values look plausible and are wrong: a total is multiplied by the world size in each
    iteration, a score counts some samples twice, a loss is too small by the number of GPUs. They
    decide which checkpoint is the best one, and when to stop.

    ## What is reported

    - A running total that is reduced in place in the loop that adds to it: what was summed over the
      ranks is summed again in the next iteration.
    - A sum that is reduced over all ranks and then divided by what one rank has counted, or by the
      number of its batches, `len(loader)`.
    - A mean of one rank that is summed over all ranks by `all_reduce` and then divided by nothing.
    - `accelerator.gather` of predictions in an evaluation loop: it keeps the samples that were
      duplicated to fill the last batch.
    - A sum over a loader with a `DistributedSampler` that is divided by the number of samples or
      batches of the whole dataset, such as `len(loader.dataset)` or `len(dataset) // batch_size`,
      and never reduced.
    - As info: a mean over the part of such a loader, in an evaluation, that is never reduced and
      by which one rank then decides, or which it reports: the best checkpoint, the validation
      accuracy; also where all ranks pass it to a tracker. It may be a sum divided by a count, or a
      mean of values that were collected in a list or a tensor. Frameworks that shard a loader
      themselves count as well. The loader, or the function that evaluates, may be in another file
      of the project.
    - As a warning: such a mean that all ranks compare, each with the best value that it has had, to
      choose a checkpoint or to stop early. The comparison may be in another function or method.
    - An attribute of a `LightningModule` by which it trains, such as the weight of a loss, that is
      set at the end of an epoch by the outputs of one rank.
    - A score of scikit-learn that is no mean over samples (F1, AUC, recall), computed on each rank
      from the predictions that it collected, and then averaged over the ranks. The same for `exp`
      or `sqrt` of a mean over its samples: a perplexity, an RMSE.
    - As info: a score of scikit-learn that one rank reports or decides by, computed from its own
      predictions.
    - As info: `len(batch)` that is added to a count of samples where a batch is a tuple or dict of
      tensors, so that it is their number: in a loop over a loader that gives each rank a part and
      joins samples in the default way.
    - As info: a metric that a `LightningModule` logs at the end of an epoch without `sync_dist`,
      from outputs that it collected in a list.

    ## What is not reported

    - Tensors that are re-created in each iteration before they are reduced.
    - Sums and means that are divided by something else as well, here or where the function is
      called, and functions that mention the world size.
    - Gathered tensors that are truncated to the length of the dataset.
    - One value gathered per rank: a loss, a sum or mean, a tensor made of numbers, a metric of timm
      or torchmetrics. `gather_for_metrics` would drop the values of whole ranks.
    - The average of accuracies and of other means over samples: it is right if the ranks have
      equally many. Scores of which the ranks take the largest, or that one rank only lists.
    - Decisions that the ranks exchange: a flag that `all_reduce` or `broadcast` is given.
    - Means and logged metrics in functions that reduce or gather something, or call a function that
      does, also through others of the project.

    ## Fix safety

    Unsafe: `gather` becomes `gather_for_metrics`. The scores change, and so does the number of
    samples that is returned. Totals and means are not fixed automatically.

    ## References

    - [Accelerate: Accelerator](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    - [PyTorch: Collective functions](https://docs.pytorch.org/docs/stable/distributed.html)
    """

    code = "DST617"
    name = "local-metric-as-global"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="Reduced once, after the loop",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.zeros(1)
for step in range(3):
    total += 1
    current = torch.ones(1)
    dist.all_reduce(current)
dist.all_reduce(total)
assert total.item() == 3 * dist.get_world_size()
dist.destroy_process_group()
""",
        ),
        Example(
            title="One value per rank",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


@torch.no_grad()
def evaluate(accelerator, loader):
    count = torch.zeros(1, dtype=torch.int)
    counts, losses = [], []
    for (batch,) in loader:
        count[0] = len(batch)
        counts.append(accelerator.gather(count))
        losses.append(accelerator.gather(batch.mean()))
    return counts, losses


accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(TensorDataset(torch.ones(5)), batch_size=2))
counts, losses = evaluate(accelerator, loader)
assert len(counts[-1]) == accelerator.num_processes
""",
        ),
        Example(
            title="Gathered with gather_for_metrics",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(TensorDataset(torch.ones(5)), batch_size=2))
seen = 0
with torch.no_grad():
    for (batch,) in loader:
        seen += len(accelerator.gather_for_metrics(batch))
assert seen == 5
""",
        ),
    )

    bad = (
        Example(
            title="Outputs that each rank collected",
            effect="static",
            why_static="it shows in the value that is logged",
            code="""\
import lightning as L
import torch


class Ranker(L.LightningModule):
    def on_validation_epoch_start(self):
        self.scores = []

    def validation_step(self, batch, index):
        self.scores.append(self(batch).sigmoid())

    def on_validation_epoch_end(self):
        scores = torch.cat(self.scores)
        top = scores.topk(10).values
        self.log("top", top.mean())  # expect: DST617
""",
        ),
        Example(
            title="Reduced again in each iteration",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.zeros(1)
for step in range(3):
    total += 1
    dist.all_reduce(total)  # expect: DST617
assert total.item() == 3 * dist.get_world_size(), f"the ranks added up to {total.item():.0f}"
""",
        ),
        Example(
            title="Duplicated samples are counted",
            effect="fail",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


@torch.no_grad()
def evaluate(accelerator, loader):
    seen = 0
    for (batch,) in loader:
        seen += len(accelerator.gather(batch))  # expect: DST617
    return seen


accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(TensorDataset(torch.ones(5)), batch_size=2))
seen = evaluate(accelerator, loader)
assert seen == 5, f"of 5 samples {seen} were counted"
""",
        ),
        Example(
            title="A local sum, divided by the number of all samples",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def mean_loss(loader):
    total = 0.0
    for (batch,) in loader:
        total += batch.sum().item()
    return total / len(loader.dataset)  # expect: DST617


dist.init_process_group("gloo")
data = TensorDataset(torch.ones(8))
loader = DataLoader(data, batch_size=2, sampler=DistributedSampler(data))
mean = mean_loss(loader)
assert mean == 1.0, f"the mean of ones is {mean}"
""",
        ),
        Example(
            title="The average of the scores of the ranks",
            effect="static",
            why_static="it shows in the value that is reported",
            code="""\
import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def evaluate(loader):
    guesses, truths = [], []
    for guess, truth in loader:
        guesses += guess.tolist()
        truths += truth.tolist()
    score = torch.tensor(f1_score(truths, guesses))
    dist.all_reduce(score)  # expect: DST617
    return score.item() / dist.get_world_size()


dist.init_process_group("gloo")
guesses, truths = torch.tensor([1, 0, 1, 0, 1, 0]), torch.tensor([1, 1, 1, 0, 1, 0])
data = TensorDataset(guesses, truths)
loader = DataLoader(data, batch_size=1, sampler=DistributedSampler(data, shuffle=False))
score = evaluate(loader)
assert abs(score - f1_score(truths, guesses)) < 1e-6, f"F1 is not {score:.2f}"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        locator = locators.of(module.key)
        if not LIGHTNING.isdisjoint(module.imported_roots) and not document.is_test:
            for site in logged_parts(objects_across(module, catalogue)):
                yield self.finding(
                    message="metric of local outputs is logged without `sync_dist`",
                    severity=Severity.INFO,
                    place=locator.place(site.call.site),
                    effect="on several devices the value covers only the data of rank 0",
                    help="Gather the outputs first, or log a mean with `sync_dist=True`",
                )
            for point, read in trained_by_parts(objects_across(module, catalogue)):
                yield self.finding(
                    message="attribute that training reads is set by the outputs of one rank",
                    severity=Severity.WARNING,
                    place=locator.place(point.statement.site),
                    related=(Related("training reads it here", _placed(locators, read)),),
                    effect="on several devices each rank trains with another value",
                    help="Gather the outputs first: `self.all_gather(...)`",
                )
        objects = objects_across(module, catalogue)
        if not _is_sharded_near(module):
            if not _may_measure(objects) or not any(map(_is_sharded_near, module.all_importers())):
                return
        for site, added in reduced_totals(objects):
            yield self.finding(
                message="running total is reduced in every iteration",
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                related=(Related("added to here", locator.place(added.site)),),
                effect="sums over the ranks are summed again: the total grows without bound",
                help="Accumulate locally and reduce once, after the loop",
            )
        yield from self._of_sums(objects, locator)
        for site in gathers(objects):
            yield self.finding(
                message="`gather` keeps samples duplicated to fill the last batch",
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                effect="some samples count twice in the metric",
                help="Use `gather_for_metrics`",
                fix=partial(_for_metrics, site, Draft(locator, module, catalogue)),
            )
        for mean in means_of_shards(objects):
            yield self.finding(
                message="mean covers the part of the data that one rank has",
                severity=Severity.WARNING if mean.by_each else Severity.INFO,
                place=locator.place(mean.point.statement.site),
                related=(
                    Related(
                        "each rank decides by its own here"
                        if mean.by_each
                        else "one rank counts on it here",
                        _placed(locators, mean.used),
                    ),
                ),
                effect="the ranks decide differently, each by its own part"
                if mean.by_each
                else "one rank decides or reports by its own part",
                help="Reduce the sum and the count over all ranks before dividing",
            )
        for score in scores_of_shards(objects):
            yield self._of_score(score, locators)
        for statement, name in counted_fields(objects):
            yield self.finding(
                message=f"`len({name})` is the number of tensors in a batch, not of samples",
                severity=Severity.INFO,
                place=locator.place(statement.site),
                effect="each batch counts the same in the metric, on every rank",
                help="Use the length of one of its tensors",
            )
        of_all = dict(sums_over_all(objects))
        for point in {**of_all, **dict.fromkeys(local_means(objects), False)}:
            yield self.finding(
                message="local sum is divided by the number of batches of the whole dataset"
                if of_all.get(point)
                else "local sum is divided by the size of the whole dataset",
                severity=Severity.WARNING,
                place=locator.place(point.statement.site),
                effect="the value is too small by a factor of the world size",
                help="Reduce the sum over all ranks first",
            )

    def _of_sums(self, objects: Objects, locator: Locator) -> Iterator[Finding]:
        for point, site in own_counts(objects):
            yield self.finding(
                message="sum over all ranks is divided by the count of one rank",
                severity=Severity.WARNING,
                place=locator.place(point.statement.site),
                related=(Related("summed over the ranks here", locator.place(site.call.site)),),
                effect="the value is too large by a factor of the world size",
                help="Reduce the count as well",
            )
        for point, site in added_means(objects):
            yield self.finding(
                message="means of the ranks are added up and not divided",
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                related=(Related("mean of one rank", locator.place(point.statement.site)),),
                effect="the value is too large by a factor of the world size",
                help="Reduce the sum and the count, then divide",
            )

    def _of_score(self, score: LocalScore, locators: Locators) -> Finding:
        if score.averaged:
            return self.finding(
                message="score of each rank's samples is averaged over ranks",
                severity=Severity.WARNING,
                place=_placed(locators, score.point),
                related=(
                    Related(
                        score.use,
                        _placed(locators, score.used),
                    ),
                ),
                effect="the mean of the scores of the parts is not the score of the whole",
                help="Average the means over the ranks first"
                if score.of_mean
                else "Gather predictions and labels, then compute the score once",
            )
        return self.finding(
            message="score covers only the part of the data on one rank",
            severity=Severity.INFO,
            place=_placed(locators, score.point),
            related=(Related("one rank counts on it here", _placed(locators, score.used)),),
            effect="one rank decides or reports by its own part",
            help="Gather predictions and labels, then compute the score once",
        )


def _placed(locators: Locators, point: Point) -> Place:
    """Where a statement is, of whatever file."""
    return locators.of(point.scope.module.key).place(point.statement.site)


def _for_metrics(site: CallSite, draft: Draft) -> Fix:
    names.rename(draft, draft.node(site.call.site, cst.Call).func, "gather_for_metrics")
    return draft.fix("unsafe", "Use `gather_for_metrics`")
