"""The command ``review``: the decisions that may contradict each other, and the job that says which of two holds."""

from __future__ import annotations

from bridge.search import review
from jobs.errors import JobError
from jobs.kinds import PAIR_VERDICTS

from ...calls import memories
from ...calls.call import Scope
from ...wording import counted
from .. import job_views
from ..command_line import Given, option
from ..job_commands import submit_for_target, submits, without_none
from ..output import Envelope, say

_HOLDS = {
    "newer": "the newer one holds",
    "older": "the older one holds",
    "both": "both hold",
    "undecided": "no verdict is left",
}


def show_review(answer: Envelope) -> None:
    """Print the pairs, or what holds now."""
    if "pairs" not in answer:
        job_views.show(answer)
        return
    pairs = answer["pairs"]
    if not pairs:
        say("Nothing is disputed.")
        return
    for pair in pairs:
        _say_pair(pair)
        say()
    disputed = [pair["pair"] for pair in pairs if pair["state"] == "disputed"]
    if disputed:
        say(f"{counted(len(disputed), 'pair')} to settle: cognee-memory review {disputed[0]} newer (or older, or both)")


@submits(
    "review",
    ["review", 'review 1/2 both --reason "Two sites."', 'review 12.2 14.1 newer --reason "Loans last four weeks."'],
    more="A pair is named by the numbers of its two memories, two other decisions by memory and place: 12.2 is the"
    " second decision that memories show 12 prints. The newer one is the one with the later date. A later verdict"
    " replaces an earlier one, and undecided takes it back; the memories themselves stay.",
    show=show_review,
)
@option("pair PAIR", "the pair, as the list names it (default: list them)", nargs="?")
@option("other DECISION", "the other one, if PAIR names one decision", nargs="?")
@option("verdict VERDICT", ", ".join(PAIR_VERDICTS), nargs="?", choices=PAIR_VERDICTS)
@option("--reason TEXT", "why, in a few words")
@option("--by NAME", "who says it (default: person)")
@option("--all", "list also what was replaced, and what was settled")
def review_pairs(args: Given) -> Envelope:
    """List the pairs, or submit a job. Raises JobError: ARGUMENT_INVALID, and as ``submit_for_target``."""
    if args.pair is None:
        return memories.review(Scope(args.place), all=args.all)
    name, verdict = _named(args)
    named = review.job_sides(*review.sides(args.place, name))
    payload = without_none({**named, "verdict": verdict, "reason": args.reason, "by": args.by})
    answer = submit_for_target(args, "resolve", payload)
    if answer.get("result") is None:
        return answer
    pair = review.pair(args.place, name)
    resting = [] if pair is None else review.resting(args.place, pair)
    shown = [{"memory_number": number, "text": text} for number, text in resting]
    return {**answer, "pair": pair, "resting": shown}


def _named(args: Given) -> tuple[str, str]:
    """The pair, or the two decisions joined by a slash, and the verdict. Raises JobError: ARGUMENT_INVALID."""
    name, other, verdict = args.pair, args.other, args.verdict
    if verdict is None and other in PAIR_VERDICTS:
        other, verdict = None, other
    if other is not None and "." not in other:
        raise JobError(
            "ARGUMENT_INVALID", f"{other!r} is neither a decision, such as 14.1, nor one of {', '.join(PAIR_VERDICTS)}."
        )
    name = name if other is None else f"{name}/{other}"
    if verdict is None:
        raise JobError(
            "ARGUMENT_INVALID", f"Say which of the two holds: cognee-memory review {name} newer, older or both"
        )
    return name, verdict


def show_resolve(result: Envelope) -> None:
    """Print what holds, and how to take it back."""
    pair = result.get("pair")
    if pair is not None:
        _say_pair(pair)
    else:
        older, newer = result["memory_numbers"]
        say(f"Of #{older} and #{newer}: {_HOLDS[result['verdict']]}")
    if pair is not None and review.is_overruled(pair, result["verdict"]):
        say(f"Somebody else settled it differently at the same time, and that counts, not your {result['verdict']}.")
        say(f"To replace it: cognee-memory review {pair['pair']} {result['verdict']}")
        return
    for each in result.get("resting", ()):
        say(f"It may rest on what was replaced: #{each['memory_number']} {each['text']}")
    if pair is not None and result["verdict"] != "undecided":
        say(f"To take it back: cognee-memory review {pair['pair']} undecided")


def _say_pair(pair: Envelope) -> None:
    if pair["state"] == "disputed":
        by = "" if pair["cause"] == "judge" else f", said {pair['by']} on {pair['at'][:10]}"
        said = f"may contradict each other ({pair['confidence']:.2f}){by}"
    elif pair["cause"] == "judge":
        said = f"the newer replaced the older ({pair['confidence']:.2f})"
    else:
        reason = f": {pair['reason']}" if pair["reason"] else ""
        said = f"{_HOLDS[pair['holds']]}, said {pair['by']} on {pair['at'][:10]}{reason}"
        if pair["state"] == "suspended":
            said += " (its memory is superseded or a draft: nothing falls by it)"
    say(f"{pair['pair']}  {said}")
    for side in ("newer", "older"):
        statement = pair[side]
        day = (statement["dated_at"] or "no date")[:10]
        topic = f", {statement['topic_id']}" if statement["topic_id"] else ""
        say(f"  {side}: {statement['statement']}")
        say(f"         #{statement['memory_number']}, {day}{topic}")
