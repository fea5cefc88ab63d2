"""How many of the sentences that capture takes for decisions are decisions, and how many decisions it takes.

``python -m benchmarks.capture_decisions FILE...``. Each line of a file is ``{"speaker": "user" or "assistant", "text":
one sentence, "decision": true or false}``: a person's judgement of sentences from real transcripts. Each file is
measured by itself; wrong ones are printed with ``--wrong``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bridge.capture import cues

from . import judged, table

_DECIDES = {"user": cues.decides_as_person, "assistant": cues.decides_as_assistant}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_decisions", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--wrong", action="store_true", help="also print the sentences that were judged wrongly")
    arguments = parser.parse_args()
    rows = []
    for file in arguments.files:
        for speaker, decides in _DECIDES.items():
            labelled = [row for row in judged.rows(file) if row["speaker"] == speaker]
            taken = [row for row in labelled if decides(row["text"])]
            right = sum(row["decision"] for row in taken)
            wanted = sum(row["decision"] for row in labelled)
            rows.append([file.stem, speaker, str(len(labelled)), str(wanted), str(len(taken)), str(right),
                         f"{right / max(1, len(taken)):.2f}", f"{right / max(1, wanted):.2f}"])  # fmt: skip
            if arguments.wrong:
                for row in labelled:
                    if decides(row["text"]) != row["decision"]:
                        print("missed:" if row["decision"] else "no decision:", row["text"])
    head = ["file", "said by", "sentences", "decisions", "taken", "right", "precision", "recall"]
    table.show("Decision sentences", head, rows)


if __name__ == "__main__":
    main()
