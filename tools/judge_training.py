"""Trains the judge: a small transformer that reads two statements together, and says whether the later one replaces the
earlier one.

python -m tools.judge_training OUT.npz [--without PREFIX]     some minutes on two cores; seeded

It is all-MiniLM-L6-v2 with its embeddings and lowest layers as they are, which the embedding model on board has too;
the other layers are trained, with one output. The pairs are in ``judge_pairs``: lines of label, kind, id, earlier and
later statement; each is shown in both orders, since the order is not what tells them apart: the dates are. Pairs of
different ids, which have nothing to do with each other, are drawn for each epoch. ``--without``: keep the pairs whose
ids begin so, and print how the judge does on them.

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
from bridge.embedding.provision import provision
from bridge.embedding.tokens import word_piece_tokenizer
from bridge.settings import load

from .default_model import HEADS, WIDTH
from .int8_weights import LAYERS, Published
from .judge import FROZEN, read_pairs

EPOCHS, BATCH, RATE, UNRELATED, SEED = 3, 32, 2e-4, 0.08, 7
LENGTHS = (32, 48, 64, 96)
SMOOTHED = 0.05

Weights = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    arguments = parser.parse_args()
    folder = provision(load().cache_folder)
    published, tokenizer = Published(folder / model_files.WEIGHTS.name), word_piece_tokenizer(folder)
    pairs = read_pairs()
    held = [pair for pair in pairs if arguments.without and pair.id.startswith(arguments.without)]
    trained = _train([pair for pair in pairs if pair not in held], published, tokenizer, arguments.epochs, held)
    np.savez(arguments.out, **trained)
    return 0


def _train(pairs: list[Any], published: Published, tokenizer: Any, epochs: int, held: list[Any]) -> dict[str, Any]:
    base = {name: jnp.asarray(published.tensor(name)) for name in published.names}
    low = {name: value for name, value in base.items() if not _is_trained(name)}
    rng = np.random.default_rng(SEED)
    weights = {name: value for name, value in base.items() if _is_trained(name)}
    weights |= {"judge.weight": jnp.asarray(rng.normal(0, 0.02, 2 * WIDTH), jnp.float32), "judge.bias": jnp.float32(0)}
    shown = [(pair.earlier, pair.later, float(pair.label == "replaced")) for pair in pairs]
    shown += [(later, earlier, label) for earlier, later, label in shown]
    unrelated = round(len(shown) * UNRELATED)
    steps = epochs * ((len(shown) + unrelated) // BATCH)
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
    upper = jax.jit(lambda weights, hidden, mask: _upper(weights, hidden, mask, None))
    for epoch in range(epochs):
        texts = [*shown, *_unrelated(pairs, unrelated, rng)]
        order = rng.permutation(len(texts))
        losses = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = [texts[at] for at in order[start : start + BATCH]]
            ids, mask, types = _batch(tokenizer, chosen)
            key, used = jax.random.split(key)
            labels = np.array([label for _, _, label in chosen], np.float32)
            weights, state, value = step(weights, state, lower(ids, mask, types), mask, labels, used)
            losses.append(float(value))
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s", flush=True)
        if held:
            scores: list[float] = []
            for start in range(0, len(held), BATCH):
                part = [(pair.earlier, pair.later, 0.0) for pair in held[start : start + BATCH]]
                part += part[:1] * (BATCH - len(part))
                ids, mask, types = _batch(tokenizer, part)
                scores += np.asarray(jax.nn.sigmoid(upper(weights, lower(ids, mask, types), mask))).tolist()
            _report(held, np.array(scores[: len(held)]))
    return {name: np.asarray(value) for name, value in weights.items()}


def _is_trained(name: str) -> bool:
    return any(name.startswith(f"encoder.layer.{number}.") for number in range(FROZEN, LAYERS))


def _unrelated(pairs: list[Any], count: int, rng: np.random.Generator) -> list[tuple[str, str, float]]:
    found: list[tuple[str, str, float]] = []
    while len(found) < count:
        one, other = (pairs[at] for at in rng.integers(len(pairs), size=2))
        if one.id.rsplit("-", 1)[0][:1] == other.id[:1] and one.id != other.id and one.earlier != other.earlier:
            found.append((one.earlier, other.later, 0.0))
    return found


def _batch(tokenizer: Any, texts: list[tuple[str, str, float]]) -> tuple[Any, Any, Any]:
    from bridge.judge.pair_tokens import pair_tokens

    tokens = [pair_tokens(tokenizer, earlier, later) for earlier, later, _ in texts]
    longest = max(len(ids) for ids, _ in tokens)
    length = next((length for length in LENGTHS if length >= longest), LENGTHS[-1])
    ids, mask, types = (np.zeros((len(texts), length), kind) for kind in (np.int32, np.float32, np.int32))
    for row, (row_ids, row_types) in enumerate(tokens):
        count = min(length, len(row_ids))
        ids[row, :count], mask[row, :count], types[row, :count] = row_ids[:count], 1, row_types[:count]
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


def _report(held: list[Any], scores: Any) -> None:
    truth = np.array([pair.label == "replaced" for pair in held])
    ordered = truth[np.argsort(-scores, kind="stable")]
    precision, recall = np.cumsum(ordered) / np.arange(1, len(ordered) + 1), np.cumsum(ordered) / truth.sum()
    area = (scores[truth][:, None] > scores[~truth]).mean()
    reached = {least: max(recall[precision >= least], default=0.0) for least in (0.95, 0.9)}
    recalls = ", ".join(f"{value:.2f} at precision {least}" for least, value in reached.items())
    print(f"  {len(held)} held back: AUC {area:.3f}, recall {recalls}")


if __name__ == "__main__":
    sys.exit(main())
