"""Every argument of ``retrieve``, ``explain`` and ``context``: its kind, range, default, setting and help, said once.

From it come the options of the terminal, the inputs of the MCP tools, the OpenAPI document, the shell's completion, the
defaults and ranges of the settings, and the checks of a question. Light to import.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

Preset = Literal["contract", "long-lived"]
RankingMode = Literal["product", "blend"]
Legacy = Literal["mixed", "append"]
Kind = Literal["text", "choice", "status", "topic", "time", "flag", "number", "whole", "ids"]

PRESETS: dict[Preset, tuple[float, float]] = {"contract": (7.0, 0.0), "long-lived": (90.0, 0.85)}
"""The half-life in days and the recency floor, where neither is given."""
BLEND_HALF_LIFE = 30.0
"""In days: that of the preset contract in the blend mode."""
MOST_IDS = 200

_ANY = (float("-inf"), float("inf"))
_CONTRACT_HALF_LIFE, _CONTRACT_FLOOR = PRESETS["contract"]


class Argument(NamedTuple):
    """What is known of an argument beside its name.

    ``help`` may hold ``{default}``, ``{range}`` and ``{choices}``.
    """

    kind: Kind
    metavar: str
    help: str
    range: tuple[float, float] = _ANY
    """The least and the most; of ``ids``, of each of them."""
    choices: tuple[str, ...] = ()
    default: Any = None
    """None: none, or it depends on other arguments."""
    setting: str | None = None
    """The setting that replaces the default."""

    @property
    def shown_range(self) -> str:
        """``0.5 to 90``."""
        least, most = self.range
        return f"{least:.10g} to {most:.10g}"

    @property
    def shown_help(self) -> str:
        default = self.default if isinstance(self.default, str | None) else f"{self.default:.10g}"
        return self.help.format(default=default, range=self.shown_range, choices=", ".join(self.choices))


def _choice(words: Any, help: str, default: str, setting: str | None = None) -> Argument:
    choices: tuple[str, ...] = get_args(words)
    return Argument("choice", "|".join(choices), help, choices=choices, default=default, setting=setting)


ARGUMENTS = {
    "query": Argument("text", "TEXT", "the question"),
    "max_results": Argument(
        "whole", "N", "most hits (default {default}, {range})", (1, 1000), default=5, setting="max_results"
    ),
    "max_tokens": Argument(
        "whole", "N", "token budget of the answer (default {default})", (1, 1_000_000), default=2000,
        setting="max_tokens",
    ),
    "half_life_days": Argument(
        "number", "DAYS", f"half-life of recency (default {_CONTRACT_HALF_LIFE:g}, {{range}})", (0.5, 90),
        setting="half_life_days",
    ),
    "include_superseded": Argument(
        "flag", "true|false", "show superseded memories as well", choices=("true", "false")
    ),
    "status": Argument(
        "status", "WORD", "only memories of this status: {choices}",
        choices=("Active", "DecisionRecord", "Superseded", "Draft"),
    ),
    "topic_id": Argument("topic", "ID", "only this topic"),
    "plan_id": Argument("text", "ID", "only this plan; 014, plan-014 and 014-some-title are the same"),
    "since": Argument("time", "TIME", "only memories from this time on"),
    "until": Argument("time", "TIME", "only memories from before this time"),
    "recency_floor": Argument(
        "number", "SHARE", f"lowest share that age leaves of a score (default {_CONTRACT_FLOOR:g})", (0, 1),
        setting="recency_floor",
    ),
    "alpha": Argument(
        "number", "WEIGHT", "weight of relevance in the blend (default {default}, {range})", (0.6, 0.95), default=0.8,
        setting="alpha",
    ),
    "as_of": Argument("time", "TIME", "compute ages at this time instead of now"),
    "preset": _choice(Preset, "half-life and floor by name", "contract", "ranking_preset"),
    "ranking_mode": _choice(RankingMode, "how the factors are combined", "product", "ranking_mode"),
    "legacy": _choice(Legacy, "legacy memories among the rest or behind", "mixed"),
    "relevance_floor": Argument(
        "number", "SHARE", "lowest relevance of a hit, {range} (default {default})", (0, 1), default=0.2,
        setting="relevance_floor",
    ),
}  # fmt: skip
"""Those of a question, by name. A number out of its range is clamped, with a warning."""

EXPLAIN_ARGUMENTS = ARGUMENTS | {
    "ids": Argument("ids", "N", "memories' numbers", (1, 2**63 - 1)),
    "project": Argument("text", "PATH|NAME", "the workspace that is meant, to make sure"),
    "include_pack_context": Argument("flag", "", "say what of each goes into a prompt"),
    "limit": Argument(
        "whole", "N", "most memories that the question finds (default {default}, {range})", (1, 50), default=10
    ),
}
"""Those of ``explain``. A ``limit`` out of its range is refused."""
