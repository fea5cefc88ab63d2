"""Which moments to cut the power at, and which of the operations that are not durable survive each."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .model import Disk, Fate, Mark, Survivors, Sync, Write, lay_out, sectors


@dataclass(frozen=True, slots=True)
class Cut:
    """After ``at`` steps; of the pending ones these survive."""

    at: int
    survivors: Survivors
    how: str

    def lay_out(self, disk: Disk, folder: Path) -> None:
        """Make the folder what this cut leaves. SQLite's shared memory may be there with anything in it."""
        lay_out(disk.tree(self.at, self.survivors), folder)
        if self.how == "by chance":
            for log in folder.rglob("*-wal"):
                shared = log.with_name(log.name.removesuffix("-wal") + "-shm")
                shared.write_bytes(random.Random(self.at).randbytes(32768))

    def describe(self, disk: Disk) -> str:
        """For whoever has to find out what went wrong."""
        lines = [f"cut after {self.at} steps ({self.how}); the last was: {disk.steps[self.at - 1].label}"]
        for index in disk.pending(self.at):
            fate = self.survivors.get(index)
            said = "lost" if fate is None else fate if isinstance(fate, str) else f"sectors {sorted(fate)}"
            lines.append(f"  {index}: {disk.steps[index].label}: {said}")
        return "\n".join(lines)


def moments(disk: Disk) -> list[int]:
    """Right before and right after each sync and each promise, and the end; not before the first sync of
    everything, since what lay there before the recording was durable."""
    start = next(index for index, step in enumerate(disk.steps) if isinstance(step, Sync) and step.node is None)
    found = {len(disk.steps)}
    for index, step in enumerate(disk.steps):
        if isinstance(step, Sync | Mark):
            found |= {index, index + 1}
    return sorted(at for at in found if at > start)


def every(disk: Disk, at: int, matters: Callable[[str], bool]) -> Iterator[Cut]:
    """Nothing survives; everything; all but each one; each one alone. Steps that do not matter (by their label)
    go with the many, not one by one."""
    pending = disk.pending(at)
    whole: dict[int, Fate] = dict.fromkeys(pending, "whole")
    yield Cut(at, {}, "nothing survives")
    if not pending:
        return
    yield Cut(at, whole, "everything survives")
    for index in pending:
        if matters(disk.steps[index].label):
            yield Cut(at, {i: fate for i, fate in whole.items() if i != index}, f"all but {index}")
            yield Cut(at, {index: "whole"}, f"only {index}")


def chance(disk: Disk, at: int, dice: random.Random) -> Cut:
    """Some survive, more or less of them, writes torn or with nothing but their length."""
    likely = dice.choice((0.1, 0.5, 0.9))
    survivors = {index: _fate(disk, index, dice) for index in disk.pending(at) if dice.random() < likely}
    return Cut(at, survivors, "by chance")


def _fate(disk: Disk, index: int, dice: random.Random) -> Fate:
    step = disk.steps[index]
    if not isinstance(step, Write) or dice.random() < 0.6:
        return "whole"
    if dice.random() < 0.3:
        return "zeros"
    return frozenset(sector for sector in sectors(step) if dice.random() < 0.5)


def some(disk: Disk, matters: Callable[[str], bool], dice: random.Random, count: int) -> Iterator[Cut]:
    """``count`` cuts, spread evenly over the moments: the two extremes first, then single ones and chance."""
    times = moments(disk)
    made = 0
    for turn in range(count):
        order = dice.sample(times, len(times))
        for at in order:
            if made == count:
                return
            made += 1
            if turn == 0:
                yield Cut(at, {}, "nothing survives")
            elif turn % 3 == 1:
                yield dice.choice(list(every(disk, at, matters)))
            else:
                yield chance(disk, at, dice)


def many(disk: Disk, matters: Callable[[str], bool], dice: random.Random, by_chance: int) -> Iterator[Cut]:
    """Every single one at every moment, and ``by_chance`` random ones for each."""
    for at in moments(disk):
        yield from every(disk, at, matters)
        for _ in range(by_chance if disk.pending(at) else 0):
            yield chance(disk, at, dice)
