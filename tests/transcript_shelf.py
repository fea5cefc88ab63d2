"""Transcripts for tests: fixtures put where a tool keeps them, and read."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from bridge.capture.readers.reader import Home, reader_of
from bridge.capture.session import Findings, Transcript, Turn

if TYPE_CHECKING:
    from harness import Place

FIXTURES = Path(__file__).parent / "fixtures" / "transcripts"
WORKSPACE = Path("/home/ana/shop")
PROJECT = "-home-ana-shop"
SESSION = "5e551001-0000-4000-8000-000000000001"


def home_in(folder: Path) -> Home:
    """A home whose environment moves nothing."""
    return Home(folder, {})


def claude_file(home: Path, fixture: str, name: str = f"{SESSION}.jsonl", project: str = PROJECT) -> Path:
    """A fixture as a session of Claude Code."""
    return placed(home / ".claude" / "projects" / project / name, f"claude-code/{fixture}")


def codex_file(home: Path, fixture: str, session: str = "01a20000-0000-7000-8000-000000000001") -> Path:
    """A fixture as a session of Codex."""
    name = f"rollout-2026-08-04T10-00-00-{session}.jsonl"
    return placed(home / ".codex" / "sessions" / "2026" / "08" / "04" / name, f"codex/{fixture}")


def gemini_file(home: Path, fixture: str, folder: str = str(WORKSPACE), project: str = "shop") -> Path:
    """A fixture as a session of Gemini CLI in a project's folder."""
    chats = home / ".gemini" / "tmp" / project / "chats"
    chats.mkdir(parents=True, exist_ok=True)
    if folder:
        (chats.parent / ".project_root").write_text(folder)
    return placed(chats / f"session-2026-08-04T10-00-5e551001{Path(fixture).suffix}", f"gemini-cli/{fixture}")


def vscode_file(user: Path, fixture: str, folder: str = "file:///home/ana/shop", storage: str = "a1b2") -> Path:
    """A fixture as a session of VS Code's chat in a user folder."""
    storages = user / "workspaceStorage" / storage
    storages.mkdir(parents=True, exist_ok=True)
    if folder:
        (storages / "workspace.json").write_text(json.dumps({"folder": folder}))
    return placed(storages / "chatSessions" / f"{SESSION}{Path(fixture).suffix}", f"vscode/{fixture}")


def placed(path: Path, fixture: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((FIXTURES / fixture).read_bytes())
    return path


def only_transcript(tool: str, home: Path, workspace: Path = WORKSPACE) -> Transcript:
    """The one transcript of the tool in this home."""
    (found,) = reader_of(tool).transcripts(home_in(home), workspace)
    return found


def read(tool: str, transcript: Transcript | Path) -> tuple[list[Turn], Findings]:
    """All turns of a transcript, or of a file as one, and what else the reader met."""
    if isinstance(transcript, Path):
        transcript = Transcript(tool, transcript.stem, transcript, "1")
    findings = Findings()
    return list(reader_of(tool).turns(transcript, findings)), findings


def lines_of(turns: list[Turn]) -> list[str]:
    """What was said, one line for each turn."""
    return [f"{turn.part + ' ' if turn.part else ''}{turn.speaker}: {turn.text}" for turn in turns]


def claude_session(place: "Place", talk: Sequence[tuple[str, str]], number: int = 1, day: int = 20) -> str:
    """A session of Claude Code in the home and the workspace of a place, on that day of November. Returns its id."""
    encoded = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(place.workspace.root))
    session = str(UUID(int=number, version=4))
    records = [
        {
            "type": speaker, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "isSidechain": False,
            "cwd": str(place.workspace.root), "sessionId": session, "version": "2.1.330", "gitBranch": "main",
            "timestamp": f"2026-11-{day:02}T09:0{at}:00.000Z",
            "message": {"role": speaker, "id": f"m{at}", "content": [{"type": "text", "text": text}]},
        }
        for at, (speaker, text) in enumerate(talk)
    ]  # fmt: skip
    path = Path(place.environment["HOME"]) / ".claude" / "projects" / encoded / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return session
