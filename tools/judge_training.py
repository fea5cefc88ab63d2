"""Trains the judge: a small transformer that reads two statements together, and says whether the later one replaces the
earlier one.

python -m tools.judge_training OUT.npz [--without e f ad aw m third d y]   30 minutes on two cores; seeded
                               [--teacher MPNET TEACHER.pt]            from the beginning: 90 minutes more

A large model learns it from the labelled pairs in ``judge_pairs``: all-mpnet-base-v2 as published, whose files are in
the folder MPNET; trained, it is kept in TEACHER.pt, or taken from there. It is too large for the package, so it teaches
the small one: it says how likely one statement replaces the other, for the labelled pairs and for near statements of
one hand that nobody labelled, and the small one learns to say the same. The small one is all-MiniLM-L6-v2 with its
embeddings and lowest layers as they are, which the embedding model on board has too; the other layers are trained, with
one output. Without ``--teacher``, the judge in the package is taken as taught.

Then the small one learns the EVERYDAY pairs, in which what holds costs more than what is replaced. Beside them are near
statements that nobody labelled, with a part of what it said of them before: few of them replace each other, and chats
would suffer most.

Each pair is shown to the large model in an order that is drawn anew, since the order is not what tells them apart: the
dates are; half of the time with the topics before the statements. A quarter of what it sees are near statements that
nobody labelled, as having nothing to do with each other. ``--without``: leave these files out, and print how both do on
them.

It needs ``pip install torch transformers``, which nothing else does. ``tools.judge`` makes the package's files from
OUT.npz.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import AutoTokenizer, BertConfig, BertModel, MPNetModel

from bridge.compaction.statements import without_change, without_rejected
from bridge.embedding import model_files
from bridge.embedding.factory import create
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.embedding.tokens import word_piece_tokenizer
from bridge.settings import load
from bridge.standing.cross_encoder import MOST_TOKENS, pair_tokens

from .default_model import HEADS, WIDTH
from .int8_weights import LAYERS
from .judge import FROZEN, Packaged, Pair, read_pairs

MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
BATCH, SEED, SMOOTHED, DROPPED = 32, 7, 0.05, 0.2
UNRELATED, WITH_TOPICS = 0.33, 0.5  # shares of the pairs
UNLABELLED = 45_000
EVERYDAY = (*"gj", *(f"a{letter}" for letter in "abcefghiklmnopqrstuv"))  # hands who wrote as people note decisions
REPEATED, NEAR, CHAT = 1_000, 500, "at"  # other pairs beside those: of the first hands, of each hand; who wrote chats
OF_SAID, OF_CHATS, HOLDS = 0.5, 0.25, 1.5  # of what is said of near statements; the weight of a pair that holds
ALIKE = 60  # characters; a batch has pairs of about the same length

Shown = tuple[str, str, float]  # two statements, and how likely the one replaces the other
Tokens = Callable[[str, str], tuple[list[int], list[int]]]


LARGE_FROZEN = 4  # layers that stay as published
_HAS_BF16 = torch.backends.cpu.get_cpu_capability() == "AVX512"  # elsewhere it takes ten times as long


class CrossEncoder(nn.Module):  # type: ignore[misc]
    """An encoder with one output, from its first token and the mean of all."""

    def __init__(self, encoder: Any, tokens: Tokens, frozen: int, padding: int) -> None:
        super().__init__()
        self.encoder, self.tokens, self._padding = encoder, tokens, padding
        self.head = nn.Linear(2 * encoder.config.hidden_size, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        for part in (encoder.embeddings, *encoder.encoder.layer[:frozen]):
            part.requires_grad_(False)

    def forward(self, shown: Sequence[Shown]) -> Any:
        """A logit for each."""
        read = [self.tokens(one, other) for one, other, _ in shown]
        mask = _padded([[1] * len(ids) for ids, _ in read], 0)
        given = {"input_ids": _padded([ids for ids, _ in read], self._padding), "attention_mask": mask}
        if isinstance(self.encoder, BertModel):
            given["token_type_ids"] = _padded([types for _, types in read], 0)
        with torch.autocast("cpu", torch.bfloat16, enabled=_HAS_BF16):
            last, mask = self.encoder(**given).last_hidden_state, mask[..., None]
            pooled = torch.cat([last[:, 0], (last * mask).sum(1) / mask.sum(1)], -1)
            return self.head(nn.functional.dropout(pooled, DROPPED, self.training))[:, 0].float()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--teacher", nargs=2, type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    by_hand = read_pairs()
    held = {hand: by_hand.pop(hand) for hand in arguments.without}
    everyday = {hand: by_hand.pop(hand) for hand in EVERYDAY if hand in by_hand}
    labelled, near = [pair for known in by_hand.values() for pair in known], _near(by_hand, rng)
    small = _small()
    if arguments.teacher:
        folder, kept = arguments.teacher
        large = _large(folder)
        if kept.exists():
            large.load_state_dict(torch.load(kept))
        else:
            _train(large, 2, 3e-5, lambda: _drawn(labelled, near, rng), held, rng)
            torch.save(large.state_dict(), kept)
        taught = _taught(large, labelled, near)
        _train(small, 2, 2e-4, lambda: taught, held, rng)
    else:
        _take_from_package(small)
    repeated = [labelled[at] for at in rng.permutation(len(labelled))[:REPEATED]]
    shown = _everyday(small, everyday, rng) + _taught(small, repeated, near[:REPEATED])
    _train(small, 2, 1.2e-4, lambda: shown, held, rng, HOLDS)
    np.savez(arguments.out, **{name: weight.detach().numpy() for name, weight in _trained(small).items()})


def _trained(small: CrossEncoder) -> dict[str, Any]:
    """The trained tensors by name."""
    trained = {name: weight for name, weight in small.encoder.named_parameters() if weight.requires_grad}
    return trained | {"judge.weight": small.head.weight[0], "judge.bias": small.head.bias}


def _take_from_package(small: CrossEncoder) -> None:
    with torch.no_grad():
        trained = _trained(small)
        packaged = Packaged({name: weight.shape for name, weight in trained.items()})
        for name, weight in trained.items():
            weight.copy_(torch.tensor(packaged.tensor(name)))


def _large(folder: Path) -> CrossEncoder:
    if hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() != MPNET_SHA256:
        raise SystemExit(f"{folder / 'model.safetensors'} is not the published file of all-mpnet-base-v2.")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    start, end = tokenizer.cls_token_id, tokenizer.sep_token_id

    def tokens(one: str, other: str) -> tuple[list[int], list[int]]:
        first, second = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (one, other))
        return [start, *first[: MOST_TOKENS // 2], end, end, *second[: MOST_TOKENS // 2], end], []

    encoder = MPNetModel.from_pretrained(folder, add_pooling_layer=False)
    return CrossEncoder(encoder, tokens, LARGE_FROZEN, tokenizer.pad_token_id)


def _small() -> CrossEncoder:
    folder = install(ENGLISH_FULL, load().cache_folder)
    config = BertConfig(hidden_size=WIDTH, num_hidden_layers=LAYERS, intermediate_size=4 * WIDTH)
    config.num_attention_heads, config.hidden_dropout_prob = HEADS, 0.0
    encoder = BertModel(config, add_pooling_layer=False)
    encoder.load_state_dict(load_file(folder / model_files.WEIGHTS.name), strict=False)
    tokenizer = word_piece_tokenizer(folder)
    return CrossEncoder(encoder, lambda one, other: pair_tokens(tokenizer, one, other), FROZEN, 0)


def _padded(rows: list[list[int]], padding: int) -> Any:
    longest = max(map(len, rows))
    return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])


def _train(
    model: CrossEncoder,
    epochs: int,
    rate: float,
    shown: Callable[[], list[Shown]],
    held: dict[str, list[Pair]],
    rng: np.random.Generator,
    holds: float = 1.0,
) -> None:
    """``shown``: what the next epoch shows. ``holds``: the weight of what is surely not replaced."""
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    steps = epochs * (len(shown()) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    for epoch in range(epochs):
        model.train()
        losses = []
        for batch in _batches(shown(), rng):
            wanted = torch.tensor([probability for _, _, probability in batch])
            weights = torch.where(wanted <= SMOOTHED, holds, 1.0)
            loss = nn.functional.binary_cross_entropy_with_logits(model(batch), wanted, weights)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}", flush=True)
        for hand, known in held.items():
            _report(hand, known, _probabilities(model, [(pair.earlier, pair.later) for pair in known]))


def _probabilities(model: CrossEncoder, pairs: Sequence[tuple[str, str]]) -> Any:
    model.eval()
    found = np.zeros(len(pairs))
    by_length = np.argsort([len(one) + len(other) for one, other in pairs], kind="stable")
    for rows in np.array_split(by_length, max(1, len(pairs) // BATCH)):
        with torch.no_grad():
            found[rows] = torch.sigmoid(model([(*pairs[row], 0.0) for row in rows])).numpy()
    return found


def _near(by_hand: dict[str, list[Pair]], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Pairs that nobody labelled: of a statement and one of the nearest ten of its hand, or any of it."""
    embed = create(load().embedding).embed
    found: list[tuple[str, str]] = []
    for known in by_hand.values():
        labelled = {frozenset((pair.earlier, pair.later)) for pair in known}
        texts = list(dict.fromkeys(text for pair in known for text in (pair.earlier, pair.later)))
        vectors = embed(texts)
        for at, row in enumerate(vectors @ vectors.T):
            others = [*rng.permutation(np.argsort(-row)[1:11])[:4].tolist(), int(rng.integers(len(texts)))]
            found += [(texts[at], texts[other]) for other in others if {texts[at], texts[other]} not in labelled]
    return [found[at] for at in rng.permutation(len(found))[:UNLABELLED]]


def _drawn(labelled: list[Pair], near: list[tuple[str, str]], rng: np.random.Generator) -> list[Shown]:
    """What one epoch shows the large model."""
    shown = []
    for pair in labelled:
        earlier, later = pair.earlier, pair.later
        if pair.topics[0] and rng.random() < WITH_TOPICS:
            earlier, later = f"{pair.topics[0]}: {earlier}", f"{pair.topics[1]}: {later}"
        shown.append((later, earlier, _smoothed(pair)) if rng.random() < 0.5 else (earlier, later, _smoothed(pair)))
    drawn = rng.integers(len(near), size=round(len(labelled) * UNRELATED)).tolist()
    return shown + [(*near[at], SMOOTHED) for at in drawn]


def _smoothed(pair: Pair) -> float:
    return 1 - SMOOTHED if pair.label == "replaced" else SMOOTHED


def _taught(large: CrossEncoder, labelled: list[Pair], near: list[tuple[str, str]]) -> list[Shown]:
    """What each epoch shows the small model: of a labelled pair, half of the probability is its label's."""
    said = _probabilities(large, [(pair.earlier, pair.later) for pair in labelled]).tolist()
    taught = [
        (pair.earlier, pair.later, (probability + _smoothed(pair)) / 2)
        for pair, probability in zip(labelled, said, strict=True)
    ]
    return taught + [(*pair, found) for pair, found in zip(near, _probabilities(large, near).tolist(), strict=True)]


def _everyday(small: CrossEncoder, everyday: dict[str, list[Pair]], rng: np.random.Generator) -> list[Shown]:
    """What the last step shows: the pairs as they are and read away, as the judge reads them, and near statements."""
    pairs = [pair for known in everyday.values() for pair in known]
    away = [without_change(without_rejected(pair.earlier, pair.later)) for pair in pairs]
    shown = [
        (pair.earlier, later, _smoothed(pair))
        for pair, other in zip(pairs, away, strict=True)
        for later in sorted({pair.later, other})
    ]
    for hand, known in everyday.items():
        near, part = _near({hand: known}, rng)[:NEAR], OF_CHATS if hand == CHAT else OF_SAID
        said = _probabilities(small, near).tolist()
        shown += [(*pair, part * found) for pair, found in zip(near, said, strict=True)]
    return shown


def _batches(shown: list[Shown], rng: np.random.Generator) -> Iterator[list[Shown]]:
    """The texts in batches of about the same length, which cost less."""
    drawn = [shown[at] for at in rng.permutation(len(shown))]
    drawn.sort(key=lambda each: (len(each[0]) + len(each[1])) // ALIKE)
    starts = range(0, len(drawn) - BATCH + 1, BATCH)
    for at in rng.permutation(len(starts)):
        yield drawn[starts[at] : starts[at] + BATCH]


def _report(hand: str, held: list[Pair], scores: Any) -> None:
    truth = np.array([pair.label == "replaced" for pair in held])
    ordered = truth[np.argsort(-scores, kind="stable")]
    wrong, recall = np.cumsum(~ordered) / (~truth).sum(), np.cumsum(ordered) / truth.sum()
    area = (scores[truth][:, None] > scores[~truth]).mean()
    found = ", ".join(f"{max(recall[wrong <= most], default=0.0):.2f} at {most}" for most in (0.03, 0.15))
    print(f"  {hand}, {len(held)} pairs: area under the curve {area:.3f}; found at a share wrongly called: {found}")


if __name__ == "__main__":
    main()
