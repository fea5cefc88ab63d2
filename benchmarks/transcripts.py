"""Transcripts of imagined sessions of real size, the same for the same seed, where Claude Code and Codex keep theirs.

The shares are those of agents at work: about nine tenths of the bytes are outputs of tools, which Claude Code writes
twice, and what only the tool needs; some hundredths are what was said. Each session is about a few subjects of
``corpus``, so that a question about a decision has one session that answers it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from . import corpus

SESSIONS = 200
MEGABYTES = 300
_PROMPTS = 5  # of a subject
_MODEL = "claude-test"


def write(
    home: Path,
    workspace: Path,
    sessions: int = SESSIONS,
    megabytes: float = MEGABYTES,
    tool: str = "claude-code",
    seed: int = 11,
    newest: datetime | None = None,
) -> list[Path]:
    """Write the sessions of one tool below a home folder. Returns their files, the oldest first.

    Sizes differ as real ones do: many small sessions, and a few that have most of the bytes.
    """
    dice = random.Random(seed)
    newest = newest or datetime(2026, 11, 1, 18, tzinfo=UTC)
    shares = [dice.lognormvariate(0, 1.1) for _ in range(sessions)]
    subjects = iter(corpus.summaries(sessions * 4, seed))
    outputs = _Outputs(dice)
    paths = []
    for number, share in enumerate(shares):
        size = int(megabytes * 1e6 * share / sum(shares))
        began = newest - timedelta(days=30 * (sessions - number) / sessions)
        chosen = [next(subjects)["summary"] for _ in range(dice.randint(1, 4))]
        session_id = f"{number:08x}-5e55-4000-8000-{dice.getrandbits(48):012x}"
        session = _Session(dice, outputs, workspace, session_id, began)
        if tool == "codex":
            folder = home / ".codex" / "sessions" / f"{began:%Y/%m/%d}"
            path = folder / f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{session_id}.jsonl"
            records = session.codex(chosen, size)
        else:
            folder = home / ".claude" / "projects" / _encoded(workspace)
            path = folder / f"{session_id}.jsonl"
            records = session.claude_code(chosen, size)
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
        paths.append(path)
    return paths


class _Outputs:
    """What tools print: lines of code and of logs."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._lines = [
            f'{n:6}\t    {dice.choice(corpus.VERBS)}_{dice.choice(corpus.NOUNS)}("{dice.getrandbits(40):x}", {n})\n'
            if n % 3
            else f"2026-10-{n % 28 + 1:02} ERROR {dice.choice(corpus.NOUNS)}: {dice.choice(corpus.CAUSES)} → C:\\{n}\n"
            for n in range(20_000)
        ]

    def output(self, characters: int) -> str:
        count = max(1, characters // 45)
        begin = self._dice.randrange(len(self._lines))
        return "".join((self._lines * 2)[begin : begin + count])


@dataclass(slots=True)
class _Session:
    dice: random.Random
    outputs: _Outputs
    workspace: Path
    session_id: str
    at: datetime
    last: str | None = None
    written: int = 0
    number: int = 0

    def claude_code(self, subjects: list[dict[str, Any]], size: int) -> Iterator[dict[str, Any]]:
        yield {"type": "mode", "mode": "normal", "sessionId": self.session_id}
        yield self._chained(
            {"attachment": {"type": "skill_listing", "content": "- skill: what it does\n" * 150}}, "attachment"
        )
        for prompt, reply, budget in self._exchanges(subjects, size):
            yield self._chained({"message": {"role": "user", "content": prompt}}, "user")
            began = self.written
            while self.written - began < budget:
                yield self._of_assistant({"type": "thinking", "thinking": "", "signature": "c2ln" * 100})
                if self.dice.random() < 0.3:
                    yield self._of_assistant({"type": "text", "text": "Now I look at the next file."})
                name, given = self._call()
                yield self._of_assistant(
                    {"type": "tool_use", "id": f"toolu_{self.number}", "name": name, "input": given}
                )
                output = self._output()
                block = {"tool_use_id": f"toolu_{self.number}", "type": "tool_result", "content": output}
                result = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
                yield self._chained({"message": {"role": "user", "content": [block]}}, "user", toolUseResult=result)
                self.written += 2 * len(output) + 2_500
            yield self._of_assistant({"type": "text", "text": reply})
            yield {"type": "file-history-snapshot", "messageId": self.last, "snapshot": {"files": {}}}

    def codex(self, subjects: list[dict[str, Any]], size: int) -> Iterator[dict[str, Any]]:
        meta = {"id": self.session_id, "cwd": str(self.workspace), "cli_version": "0.169.0", "source": "cli"}
        yield self._line(
            "session_meta", meta | {"git": {"branch": "main"}, "base_instructions": {"text": "Be brief. " * 1_000}}
        )
        context = f"<environment_context>\n  <cwd>{self.workspace}</cwd>\n</environment_context>"
        yield self._message("user", context)
        for prompt, reply, budget in self._exchanges(subjects, size):
            yield self._line("turn_context", {"cwd": str(self.workspace), "model": _MODEL})
            yield self._message("user", prompt)
            yield self._line("event_msg", {"type": "user_message", "message": prompt})
            began = self.written
            while self.written - began < budget:
                yield self._line(
                    "response_item", {"type": "reasoning", "summary": [], "encrypted_content": "c2ln" * 400}
                )
                output, call = self._output(), f"call_{self.number}"
                arguments = json.dumps({"cmd": f"sed -n 1,200p src/{self.dice.choice(corpus.NOUNS)}.py"})
                yield self._line(
                    "response_item",
                    {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call},
                )
                done = {"type": "exec_command_end", "call_id": call, "aggregated_output": output}
                yield self._line("event_msg", done)
                yield self._line("response_item", {"type": "function_call_output", "call_id": call, "output": output})
                yield self._line(
                    "event_msg", {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 1}}}
                )
                self.written += 2 * len(output) + 2_800
            yield self._message("assistant", reply)
            yield self._line("event_msg", {"type": "agent_message", "message": reply})

    def _exchanges(self, subjects: list[dict[str, Any]], size: int) -> Iterator[tuple[str, str, int]]:
        """Each prompt with its reply, and the bytes of tool calls between them."""
        count = len(subjects) * _PROMPTS
        for subject in subjects:
            said = _said(subject)
            for prompt, reply in said:
                yield prompt, reply, size // count
            self.at += timedelta(minutes=self.dice.randint(5, 90))

    def _call(self) -> tuple[str, dict[str, Any]]:
        path = str(self.workspace / "src" / f"{self.dice.choice(corpus.VERBS)}_{self.dice.choice(corpus.NOUNS)}.py")
        if self.dice.random() < 0.2:
            old, new = self.outputs.output(300), self.outputs.output(400)
            return "Edit", {"file_path": path, "old_string": old, "new_string": new}
        if self.dice.random() < 0.5:
            return "Read", {"file_path": path}
        return "Bash", {"command": f"grep -rn {self.dice.choice(corpus.NOUNS)} src | head -50"}

    def _output(self) -> str:
        return self.outputs.output(int(min(200_000, 1_500 * self.dice.lognormvariate(0, 1.2))))

    def _of_assistant(self, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 20_000, "output_tokens": 200, "service_tier": "standard"}
        message = {"id": f"msg_{self.number // 3}", "type": "message", "role": "assistant", "model": _MODEL}
        return self._chained({"message": message | {"content": [block], "usage": usage}}, "assistant")

    def _chained(self, record: dict[str, Any], kind: str, **more: Any) -> dict[str, Any]:
        """A record of Claude Code with its keys in that tool's order."""
        self.number += 1
        self.at += timedelta(seconds=self.dice.randint(1, 20))
        before, self.last = self.last, f"{self.number:08x}-0000-4000-8000-{self.session_id[-12:]}"
        head: dict[str, Any] = {"parentUuid": before, "isSidechain": False}
        body = {"type": kind, **record} if kind == "user" else {**record, "type": kind}
        tail = {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self.workspace),
            "sessionId": self.session_id,
            "version": "2.1.330",
            "gitBranch": "main",
        }
        return head | body | {"uuid": self.last, "timestamp": _iso(self.at)} | more | tail

    def _line(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        """A record of Codex."""
        self.number += 1
        self.at += timedelta(seconds=self.dice.randint(1, 10))
        return {"timestamp": _iso(self.at), "ordinal": self.number, "type": kind, "payload": payload}

    def _message(self, role: str, text: str) -> dict[str, Any]:
        kind = "input_text" if role == "user" else "output_text"
        return self._line("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})


def _said(subject: dict[str, Any]) -> list[tuple[str, str]]:
    """The prompts and replies about one subject."""
    decisions, reasons = subject["decisions"], subject["rationale"]
    return [
        (f"{subject['topic']}: can you look into it?", subject["context"]),
        ("What do you suggest?", f"We decided: {decisions[0]} {reasons[0]}"),
        (f"Fine. And also: {decisions[1]}", f"Done. {reasons[1]}"),
        ("What else?", f"Let us settle on this: {decisions[2]} {subject['open_questions'][0]}"),
        ("Thanks, what is next?", f"Next: {subject['next_steps'][0]}"),
    ]


def _encoded(folder: Path) -> str:
    return "".join(character if character.isascii() and character.isalnum() else "-" for character in str(folder))


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"
