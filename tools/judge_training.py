"""Trains the judge: a small transformer that reads two statements together, and says whether the later one replaces the
earlier one.

python -m tools.judge_training OUT.npz [--without m t u v third a b c d w x y z]     half an hour on two cores; seeded

It is all-MiniLM-L6-v2 with its embeddings and lowest layers as they are, which the embedding model on board has too;
the other layers are trained, with one output. The pairs are in ``judge_pairs``. Each is shown in an order that is drawn
anew, since the order is not what tells them apart: the dates are; half of the time with the topics before the
statements. A quarter of what is shown are the nearest statements of other pairs of the same hand, which have nothing to
do with each other. ``--without``: leave these files out, and print how the judge does on them.

It needs ``pip install jax optax``, which nothing else does. ``tools.judge`` makes the package's files from OUT.npz.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from bridge.embedding import model_files
from bridge.embedding.factory import create
from bridge.embedding.installer import install
from bridge.embedding.local_models import ENGLISH_FULL
from bridge.embedding.tokens import word_piece_tokenizer
from bridge.settings import load
from bridge.standing.cross_encoder import pair_tokens

from .default_model import HEADS, WIDTH
from .int8_weights import LAYERS, Published
from .judge import FROZEN, Pair, read_pairs

EPOCHS, BATCH, RATE, SEED = 3, 32, 2e-4, 7
UNRELATED, NEAREST, AROUND = 0.33, 6, 90  # a share of the pairs; of how many nearest; among so many pairs on each side
WITH_TOPICS = 0.5
LENGTHS = (32, 48, 64, 96)
ALIKE = 60  # characters; a batch has pairs of about the same length
SMOOTHED = 0.05

Weights = dict[str, Any]
Shown = tuple[str, str, float]  # two statements, and whether the one replaces the other


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    arguments = parser.parse_args()
    folder = install(ENGLISH_FULL, load().cache_folder)
    published, tokenizer = Published(folder / model_files.WEIGHTS.name), word_piece_tokenizer(folder)
    by_hand = read_pairs()
    held = {hand: by_hand.pop(hand) for hand in arguments.without}
    np.savez(arguments.out, **_train(by_hand, published, tokenizer, arguments.epochs, held))
    return 0


def _train(
    by_hand: dict[str, list[Pair]], published: Published, tokenizer: Any, epochs: int, held: dict[str, list[Pair]]
) -> Weights:
    base = {name: jnp.asarray(published.tensor(name)) for name in published.names}
    low = {name: value for name, value in base.items() if not _is_trained(name)}
    rng = np.random.default_rng(SEED)
    weights = {name: value for name, value in base.items() if _is_trained(name)}
    weights |= {"judge.weight": jnp.asarray(rng.normal(0, 0.02, 2 * WIDTH), jnp.float32), "judge.bias": jnp.float32(0)}
    pairs, near = _with_nearest(by_hand)
    steps = epochs * (round(len(pairs) * (1 + UNRELATED)) // BATCH)
    optimiser = optax.adamw(optax.warmup_cosine_decay_schedule(0, RATE, steps // 10, steps), weight_decay=0.01)
    state, key, began = optimiser.init(weights), jax.random.PRNGKey(SEED), time.monotonic()

    def stepped(
        weights: Weights, state: Any, hidden: Any, mask: Any, labels: Any, key: Any
    ) -> tuple[Weights, Any, Any]:
        def loss(weights: Weights) -> Any:
            smoothed = labels * (1 - 2 * SMOOTHED) + SMOOTHED
            return optax.sigmoid_binary_cross_entropy(_upper(weights, hidden, mask, key), smoothed).mean()

        value, slope = jax.value_and_grad(loss)(weights)
        update, state = optimiser.update(slope, state, weights)
        return optax.apply_updates(weights, update), state, value

    step = jax.jit(stepped)
    lower = jax.jit(lambda ids, mask, types: _lower(low, ids, mask, types))
    upper = jax.jit(lambda weights, hidden, mask: jax.nn.sigmoid(_upper(weights, hidden, mask, None)))
    for epoch in range(epochs):
        losses = []
        for chosen in _batches(_drawn(pairs, near, rng), rng):
            ids, mask, types = _tokens(tokenizer, chosen)
            key, used = jax.random.split(key)
            labels = np.array([label for _, _, label in chosen], np.float32)
            weights, state, value = step(weights, state, lower(ids, mask, types), mask, labels, used)
            losses.append(float(value))
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s", flush=True)
        for hand, known in held.items():
            scores: list[float] = []
            for start in range(0, len(known), BATCH):
                part = [(pair.earlier, pair.later, 0.0) for pair in known[start : start + BATCH]]
                part += part[:1] * (BATCH - len(part))
                ids, mask, types = _tokens(tokenizer, part)
                scores += np.asarray(upper(weights, lower(ids, mask, types), mask)).tolist()
            _report(hand, known, np.array(scores[: len(known)]))
    return {name: np.asarray(value) for name, value in weights.items()}


def _with_nearest(by_hand: dict[str, list[Pair]]) -> tuple[list[Pair], list[list[Pair]]]:
    """The pairs, and for each those of the same hand whose later statements are the nearest to its earlier one."""
    embed = create(load().embedding).embed
    pairs: list[Pair] = []
    near: list[list[Pair]] = []
    for known in by_hand.values():
        earlier, later = embed([pair.earlier for pair in known]), embed([pair.later for pair in known])
        for at, pair in enumerate(known):
            first = max(0, at - AROUND)
            others = [
                row for row in range(first, min(len(known), at + AROUND + 1)) if known[row].earlier != pair.earlier
            ]
            order = np.argsort(-(later[others] @ earlier[at]))[:NEAREST]
            near.append([known[others[row]] for row in order.tolist()])
        pairs += known
    return pairs, near


def _drawn(pairs: list[Pair], near: list[list[Pair]], rng: np.random.Generator) -> list[Shown]:
    """What one epoch shows."""
    shown = [_shown(pair, pair, float(pair.label == "replaced"), rng) for pair in pairs]
    while len(shown) < round(len(pairs) * (1 + UNRELATED)):
        at = int(rng.integers(len(pairs)))
        if near[at]:
            shown.append(_shown(pairs[at], near[at][int(rng.integers(len(near[at])))], 0.0, rng))
    return shown


def _shown(one: Pair, other: Pair, label: float, rng: np.random.Generator) -> Shown:
    earlier, later = one.earlier, other.later
    if one.topics[0] and rng.random() < WITH_TOPICS:
        earlier, later = f"{one.topics[0]}: {earlier}", f"{other.topics[1]}: {later}"
    return (later, earlier, label) if rng.random() < 0.5 else (earlier, later, label)


def _batches(shown: list[Shown], rng: np.random.Generator) -> list[list[Shown]]:
    """The texts in batches of about the same length, which cost less."""
    drawn = [shown[at] for at in rng.permutation(len(shown))]
    drawn.sort(key=lambda each: (len(each[0]) + len(each[1])) // ALIKE)
    found = [drawn[start : start + BATCH] for start in range(0, len(drawn) - BATCH + 1, BATCH)]
    return [found[at] for at in rng.permutation(len(found))]


def _is_trained(name: str) -> bool:
    return any(name.startswith(f"encoder.layer.{number}.") for number in range(FROZEN, LAYERS))


def _tokens(tokenizer: Any, texts: list[Shown]) -> tuple[Any, Any, Any]:
    tokens = [pair_tokens(tokenizer, earlier, later) for earlier, later, _ in texts]
    longest = max(len(ids) for ids, _ in tokens)
    length = next(length for length in LENGTHS if length >= longest)
    ids, mask, types = (np.zeros((len(texts), length), kind) for kind in (np.int32, np.float32, np.int32))
    for row, (row_ids, row_types) in enumerate(tokens):
        count = len(row_ids)
        ids[row, :count], mask[row, :count], types[row, :count] = row_ids, 1, row_types
    return ids, mask, types


def _normalised(x: Any, weights: Weights, name: str) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _layer(weights: Weights, number: int, x: Any, hidden_mask: Any, key: Any) -> Any:
    name = f"encoder.layer.{number}"

    def linear(part: str, value: Any) -> Any:
        return value @ weights[f"{name}.{part}.weight"].T + weights[f"{name}.{part}.bias"]

    def heads(part: str) -> Any:
        return linear(f"attention.self.{part}", x).reshape(*x.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    query, keys, value = heads("query"), heads("key"), heads("value")
    attention = jax.nn.softmax(query @ keys.transpose(0, 1, 3, 2) / np.sqrt(WIDTH / HEADS) + hidden_mask, -1)
    if key is not None:
        attention = attention * jax.random.bernoulli(key, 0.9, attention.shape) / 0.9
    mixed = (attention @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    x = _normalised(linear("attention.output.dense", mixed) + x, weights, f"{name}.attention.output.LayerNorm")
    inner = jax.nn.gelu(linear("intermediate.dense", x), approximate=False)
    return _normalised(linear("output.dense", inner) + x, weights, f"{name}.output.LayerNorm")


def _lower(weights: Weights, ids: Any, mask: Any, types: Any) -> Any:
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.token_type_embeddings.weight"][types]
    x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = _normalised(x, weights, "embeddings.LayerNorm")
    for number in range(FROZEN):
        x = _layer(weights, number, x, (1 - mask[:, None, None, :]) * -1e9, None)
    return x


def _upper(weights: Weights, x: Any, mask: Any, key: Any) -> Any:
    for number in range(FROZEN, LAYERS):
        used = None
        if key is not None:
            key, used = jax.random.split(key)
        x = _layer(weights, number, x, (1 - mask[:, None, None, :]) * -1e9, used)
    mean = (x * mask[..., None]).sum(1) / mask.sum(1)[:, None]
    pooled = jnp.concatenate([x[:, 0], mean], -1)
    if key is not None:
        pooled = pooled * jax.random.bernoulli(key, 0.8, pooled.shape) / 0.8
    return pooled @ weights["judge.weight"] + weights["judge.bias"]


def _report(hand: str, held: list[Pair], scores: Any) -> None:
    truth = np.array([pair.label == "replaced" for pair in held])
    ordered = truth[np.argsort(-scores, kind="stable")]
    wrong, recall = np.cumsum(~ordered) / (~truth).sum(), np.cumsum(ordered) / truth.sum()
    area = (scores[truth][:, None] > scores[~truth]).mean()
    found = ", ".join(f"{max(recall[wrong <= most], default=0.0):.2f} at {most}" for most in (0.03, 0.15))
    print(f"  {hand}, {len(held)} pairs: area under the curve {area:.3f}; found at a share wrongly called: {found}")


if __name__ == "__main__":
    sys.exit(main())
