"""How well the judge tells that a later statement replaces an earlier one, on pairs of ``tools/judge_pairs``.

python -m benchmarks.judge PREFIX

PREFIX chooses the pairs by the beginning of their ids: those that the weights were not trained on. Prints the
area under the curve, the recall at three precisions with their thresholds, what each threshold calls by kind, and
how many unrelated pairs (statements of different subjects, drawn by a fixed seed) are called.
"""

from __future__ import annotations

import sys

import numpy as np

from bridge.judge.judge import replaces
from tools.judge import read_pairs

UNRELATED, SEED = 4000, 7
PRECISIONS = (0.95, 0.9, 0.75)


def main() -> int:
    pairs = [pair for pair in read_pairs() if pair.id.startswith(sys.argv[1])]
    scores = np.array(replaces([(pair.earlier, pair.later) for pair in pairs]))
    rng = np.random.default_rng(SEED)
    drawn = [(pairs[one], pairs[other]) for one, other in rng.integers(len(pairs), size=(UNRELATED, 2))]
    apart = [(one.earlier, other.later) for one, other in drawn if one.earlier != other.earlier]
    unrelated = np.array(replaces(apart))
    truth = np.array([pair.label == "replaced" for pair in pairs])
    order = np.argsort(-scores, kind="stable")
    precision = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    area = (scores[truth][:, None] > scores[~truth]).mean()
    print(f"{len(pairs)} pairs, {truth.sum()} replaced; area under the curve {area:.3f}")
    for least in PRECISIONS:
        reached = np.flatnonzero(precision >= least)
        if not len(reached):
            print(f"precision {least}: never reached")
            continue
        threshold = scores[order][reached[-1]]
        called, wrong = scores >= threshold, (unrelated >= threshold).mean()
        print(
            f"precision {least} from {threshold:.3f}: recall {called[truth].mean():.2f}, called of those that hold"
            f" {called[~truth].mean():.2f}, of {len(apart)} unrelated {wrong:.4f}"
        )
        for kind in sorted({pair.kind for pair in pairs}):
            of_kind = np.array([pair.kind == kind for pair in pairs])
            print(f"  {kind}: {called[of_kind].sum()} of {of_kind.sum()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
