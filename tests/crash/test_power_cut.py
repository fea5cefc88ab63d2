"""Power cuts: of what was not synced an arbitrary part is gone; what was promised is there all the same.

The everyday form tries some hundreds of states, other ones each time; a failure names its cut and leaves the state
where it can be looked at. ``COGNEE_MEMORY_SOAK=1`` tries every single loss at every moment.
"""

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest
from harness import SOAK
from power_cut import cuts, graph_story, spool_promises, spool_story, store_story
from power_cut.cuts import Cut
from power_cut.graph_story import HARMS, KINDS, GraphStory
from power_cut.model import Disk, lay_out
from power_cut.recording import compile_recorder

from jobs import spool
from jobs.layout import Workspace

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the recorder is made for Linux"),
    pytest.mark.timeout(7200 if SOAK else 600),
]

# Everyday the same choices; the long form looks elsewhere each time.
SEED = int(os.environ.get("COGNEE_MEMORY_SEED") or (random.SystemRandom().randrange(2**32) if SOAK else 20261121))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_recorder(tmp_path_factory.mktemp("recorder"))


@pytest.fixture(scope="module")
def disk(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Disk:
    """The disk of a worker with jobs of all kinds of ends."""
    return spool_story.record_story(library, tmp_path_factory.mktemp("disk"))


@pytest.fixture
def state() -> Iterator[Path]:
    """Where states are laid out: in memory if possible, since thousands of them are synced."""
    shared = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() and os.access(shared, os.W_OK) else None))
    yield base / "state"
    shutil.rmtree(base)


def survive(disk: Disk, every: Iterable[Cut], state: Path, check: Callable[[Cut], None], kept: Path) -> int:
    """Check each cut's state; the first that fails is described, and copied to ``kept``. Returns how many held."""
    count = 0
    for cut in every:
        cut.lay_out(disk, state)
        try:
            check(cut)
        except Exception as error:
            cut.lay_out(disk, state)
            shutil.copytree(state, kept)
            pytest.fail(f"{error!r}\nseed {SEED}, state number {count}, kept in {kept}\n{cut.describe(disk)}")
        count += 1
    print(f"{count} states held; seed {SEED}")
    return count


def test_a_power_cut_loses_no_drop(disk: Disk, state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """And changes no end of a job."""
    caplog.set_level("CRITICAL")
    promises = spool_promises.promises_of(disk)
    assert len(promises.dropped) == len(spool_story.ENDS) + 2
    dice = random.Random(SEED)
    chosen = cuts.many(disk, spool_story.matters, dice, 50) if SOAK else cuts.some(disk, spool_story.matters, dice, 240)
    assert survive(
        disk, chosen, state, lambda cut: spool_promises.check(state, cut.at, promises), tmp_path / "kept"
    ) >= 240  # fmt: skip


def test_after_a_power_cut_a_worker_ends_every_job_even_if_the_power_is_cut_again(
    library: Path, disk: Disk, state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")
    promises = spool_promises.promises_of(disk)
    dice = random.Random(SEED)
    for number in range(30 if SOAK else 1):
        cut = cuts.chance(disk, dice.choice(cuts.moments(disk)), dice)
        base = tmp_path / f"left-{number}"
        cut.lay_out(disk, base)
        left = list(spool.records(Workspace(base / "workspace").spool))
        try:
            again = spool_story.record_recovery(
                library, base, spool_story.TornPlace(tmp_path / f"place-{number}", adopted=False), cut.at, promises
            )
        except AssertionError as error:
            pytest.fail(f"{error}\nseed {SEED}\n{cut.describe(disk)}")
        both = promises.again(cut.at, left, spool_promises.promises_of(again))
        survive(
            again,
            cuts.some(again, spool_story.matters, dice, 1000 if SOAK else 60),
            state,
            lambda second, both=both, cut=cut: spool_promises.check(state, cut.at + second.at, both),  # type: ignore[misc]
            tmp_path / f"kept-{number}",
        )


def test_a_power_cut_takes_no_memory_and_leaves_none_in_part(
    library: Path, state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")
    disk = store_story.record_story(library, tmp_path)
    promises = store_story.promises_of(disk)
    dice = random.Random(SEED)
    chosen = cuts.many(disk, store_story.matters, dice, 60) if SOAK else cuts.some(disk, store_story.matters, dice, 120)
    assert survive(
        disk, chosen, state, lambda cut: store_story.check(state, cut.at, promises), tmp_path / "kept"
    ) >= 120  # fmt: skip


@pytest.fixture(scope="module")
def graph(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphStory, Disk]]:
    story = GraphStory(library, tmp_path_factory.mktemp("graph"))
    yield story, story.record()
    story.close()


@pytest.mark.cognee
def test_after_a_power_cut_the_graph_has_every_memory_again(graph: tuple[GraphStory, Disk]) -> None:
    story, disk = graph
    dice = random.Random(SEED)
    start = next(index for index, step in enumerate(disk.steps) if step.label.startswith("memory "))
    times = [at for at in cuts.moments(disk) if at > start]
    for number in range(300 if SOAK else 2):
        cut = cuts.chance(disk, dice.choice(times), dice)
        cut.lay_out(disk, story.root)
        try:
            story.check(f"cut-{number}", graph_story.promised(disk, cut.at))
        except AssertionError as error:
            pytest.fail(f"{error}\nseed {SEED}, state number {number}\n{cut.describe(disk)}")
    print(f"{number + 1} states held; seed {SEED}; a damaged graph ended {story.ended} processes")


@pytest.mark.cognee
@pytest.mark.parametrize(
    ("kind", "harm"),
    list(product(KINDS, HARMS)) if SOAK else [("versions of vectors", "zeroed"), ("the graph", "halved")],
)
def test_damage_that_no_sync_prevents_is_mended_too(graph: tuple[GraphStory, Disk], kind: str, harm: str) -> None:
    story, disk = graph
    lay_out(disk.last_tree(), story.root)
    graph_story.damage(story.root, kind, harm)
    story.check(f"{kind}-{harm}".replace("'", "").replace(" ", "-"), graph_story.promised(disk, len(disk.steps)))
