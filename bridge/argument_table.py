"""The arguments of ``retrieve``, ``explain`` and ``context``: kind, range, default, setting and help of each.

This table feeds the terminal's options, the inputs of the MCP tools, the OpenAPI document, shell completion, the
defaults and ranges of the settings, and the checks of a question. It is light to import.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

from .memory import LABELS

Preset = Literal["contract", "long-lived"]
RankingMode = Literal["product", "blend"]
Legacy = Literal["mixed", "append"]
TimePhraseUse = Literal["prefer", "filter", "off"]
Kind = Literal[
    "text", "texts", "choice", "choices", "status", "topic", "time", "flag", "number", "whole", "ids", "numbers",
    "object",
]  # fmt: skip

PRESETS: dict[Preset, tuple[float, float]] = {"contract": (7.0, 0.0), "long-lived": (90.0, 0.85)}
"""The half-life in days and the recency floor of a preset."""
DEFAULT_PRESET: Preset = "long-lived"
"""The preset for people and agents: the terminal, MCP and HTTP. ``bridge/retrieve.py`` keeps ``contract``."""
BLEND_HALF_LIFE = 30.0
"""The half-life in days of the blend mode, unless a preset is given; its recency floor is 0."""
NO_BUDGET = 1_000_000
"""The ``max_tokens`` that cuts no ordinary answer, for people, who read no more than they want."""
LISTED_RESULTS = 20
"""The default of ``max_results`` for a question that is only a time: it asks for a list."""
MAX_QUERY_CHARS = 100_000
"""The length of the longest question. A longer one would take seconds, and the search uses little of it."""
MAX_IDS = 200
"""The most ids that ``explain`` takes."""

RETRIEVE_POSITIONS = ("workspace", "query", "max_results", "max_tokens", "half_life_days", "include_superseded")
"""The positional arguments of ``bridge/retrieve.py``, in their order."""

_ANY = (float("-inf"), float("inf"))


class Argument(NamedTuple):
    """An argument, without its name. ``help`` may hold ``{default}``, ``{range}`` and ``{choices}``."""

    kind: Kind
    metavar: str
    help: str
    range: tuple[float, float] = _ANY
    """The least and the most of a number; of ``ids`` and ``numbers``, of each number; of a text, of its characters."""
    choices: tuple[str, ...] = ()
    default: Any = None
    """None if there is none, or if it depends on other arguments."""
    setting: str | None = None
    """The setting that replaces the default."""
    pattern: str | None = None
    """Of a text."""
    is_required: bool = False

    @property
    def shown_range(self) -> str:
        """``0.5 to 90``."""
        least, most = self.range
        return f"{least:.10g} to {most:.10g}"

    @property
    def shown_help(self) -> str:
        default = self.default if isinstance(self.default, str | None) else f"{self.default:.10g}"
        return self.help.format(default=default, range=self.shown_range, choices=", ".join(self.choices))


def _choice(words: Any, help: str, default: str | None, setting: str | None = None) -> Argument:
    choices: tuple[str, ...] = get_args(words)
    return Argument("choice", "|".join(choices), help, choices=choices, default=default, setting=setting)


ARGUMENTS = {
    "query": Argument("text", "TEXT", "the query"),
    "max_results": Argument(
        "whole", "N", f"maximum number of hits (default {{default}}, {LISTED_RESULTS} for a time alone, {{range}})",
        (1, 1000), default=5, setting="max_results",
    ),
    "max_tokens": Argument(
        "whole", "N", "token budget of the answer (default {default})",
        (1, NO_BUDGET), default=2000, setting="max_tokens",
    ),
    "half_life_days": Argument(
        "number", "DAYS", "half-life of recency (default: the preset's, {range})",
        (0.5, 90), setting="half_life_days",
    ),
    "include_superseded": Argument("flag", "true|false", "also show superseded memories", choices=("true", "false")),
    "status": Argument(
        "status", "WORD", "only memories with this status: {choices}",
        choices=("Active", "DecisionRecord", "Superseded", "Draft"),
    ),
    **{name: Argument(label.kind, *label.filter) for name, label in LABELS.items() if label.filter},
    "since": Argument("time", "TIME", "only memories from this time on"),
    "until": Argument("time", "TIME", "only memories from before this time"),
    "time_phrase": _choice(
        TimePhraseUse, "a time in the query, such as \"last week\": prefer its memories, only these, or ignore it",
        "prefer", "time_phrase",
    ),
    "recency_floor": Argument(
        "number", "SHARE", "minimum recency_multiplier, {range} (default: the preset's)",
        (0, 1), setting="recency_floor",
    ),
    "alpha": Argument(
        "number", "WEIGHT", "weight of relevance in the blend mode (default {default}, {range})",
        (0.6, 0.95), default=0.8, setting="alpha",
    ),
    "feedback_weight": Argument(
        "number", "WEIGHT", "how much feedback on memories counts (default {default}: nothing, {range})",
        (0, 0.5), default=0, setting="feedback_weight",
    ),
    "as_of": Argument("time", "TIME", "compute ages at this time instead of now"),
    "preset": _choice(
        Preset, f"a named half-life and recency floor (default {DEFAULT_PRESET})", None, "ranking_preset"
    ),
    "ranking_mode": _choice(RankingMode, "how the factors are combined", "product", "ranking_mode"),
    "legacy": _choice(Legacy, "rank legacy memories among the others, or append them", "mixed"),
    "relevance_floor": Argument(
        "number", "SHARE",
        "minimum semantic_score of a hit, {range} (default about {default}, at most half of the best hit's)",
        (0, 1), default=0.2, setting="relevance_floor",
    ),
}  # fmt: skip
"""The arguments of a question, by name. A number out of its range is clamped, with a warning."""

RETRIEVE_ARGUMENTS = ARGUMENTS | {
    "best_passages": Argument("flag", "true|false", "also return the passages of each hit that match best"),
}
"""The arguments of ``retrieve``."""

EXPLAIN_ARGUMENTS = ARGUMENTS | {
    "ids": Argument("ids", "N", "numbers of memories", (1, 2**63 - 1)),
    "project": Argument("text", "PATH|NAME", "the expected workspace; any other one is refused"),
    "include_pack_context": Argument("flag", "", "show the part of each memory that goes into a prompt"),
    "limit": Argument(
        "whole", "N", "maximum number of memories that the query finds (default {default}, {range})",
        (1, 50), default=10,
    ),
}  # fmt: skip
"""The arguments of ``explain``. A ``limit`` out of its range is refused."""
