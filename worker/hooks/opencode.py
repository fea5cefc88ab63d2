"""The plugin of OpenCode that calls the hook: a file of our own among the user's plugins."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from string import Template

_PLUGIN = Template("""\
// Written by cognee-memory. To remove it: cognee-memory capture uninstall opencode
// It tells cognee-memory when a session waits or was compacted, and gives a session notes from earlier ones, where you
// said so also for a prompt, a file or a failure. It never fails and never waits for long: what it did is in hooks.log
// of cognee-memory's configuration folder.
import { spawn } from "node:child_process"

const COMMAND = $command
const MILLISECONDS = 5000
const MOMENTS = $moments
const EMPTY_LINE = "\\n\\n"

function call(said) {
  return new Promise((done) => {
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill(), MILLISECONDS)
      let text = ""
      child.stdout.on("data", (part) => (text += part))
      child.stdin.on("error", () => {})
      child.on("error", () => done(""))
      child.on("close", () => {
        clearTimeout(timer)
        done(text)
      })
      child.stdin.end(JSON.stringify(said))
    } catch {
      done("")
    }
  })
}

export const CogneeMemory = async ({ directory }) => {
  const notes = new Map()
  const later = new Map()
  const about = (name, id) => ({ hook_event_name: name, session_id: id, cwd: directory })
  return {
    // Notes for a prompt stand after those of the beginning, so that what the model has read stays as it was.
    "chat.message": async ({ sessionID }, { parts }) => {
      if (!MOMENTS.includes("prompts")) return
      const prompt = parts.map((part) => (part.type === "text" && !part.synthetic ? part.text : "")).join(" ")
      const text = await call({ ...about("chat.message", sessionID), prompt })
      if (text) later.set(sessionID, [...(later.get(sessionID) ?? []), text])
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      const isFile = MOMENTS.includes("files") && ["read", "edit", "write"].includes(tool)
      const isFailure = MOMENTS.includes("failures") && tool === "bash" && output.metadata?.exit !== 0
      if (!isFile && !isFailure) return
      const said = { tool_name: tool, tool_input: args, ...(isFailure && { tool_response: output.output }) }
      const text = await call({ ...about("tool.execute.after", sessionID), ...said })
      if (text) output.output = [output.output, text].join(EMPTY_LINE)
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle" && event.type !== "session.compacted") return
      void call(about(event.type, event.properties?.sessionID))
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!notes.has(sessionID)) notes.set(sessionID, call(about("SessionStart", sessionID)))
      const text = await notes.get(sessionID)
      output.system.push(...[text, ...(later.get(sessionID) ?? [])].filter(Boolean))
    },
  }
}
""")


class OpenCode:
    """Our plugin file."""

    name = "opencode"
    moments = ("prompts", "files", "failures")

    def file(self, home: Path, environment: Mapping[str, str]) -> Path:
        base = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
        return Path(environment.get("OPENCODE_CONFIG_DIR") or base / "opencode") / "plugins" / "cognee-memory.js"

    def added(self, text: str, command: Sequence[str], moments: Collection[str] = ()) -> str:
        """The plugin's text. Raises ValueError, with a sentence, for a file that is not ours."""
        if text.strip() and not _is_ours(text):
            raise ValueError("it was not written by cognee-memory.")
        chosen = json.dumps([moment for moment in self.moments if moment in moments])
        return _PLUGIN.substitute(command=json.dumps(list(command), ensure_ascii=False), moments=chosen)

    def removed(self, text: str) -> str:
        """The text of what is left: nothing of our file."""
        return "" if _is_ours(text) else text


def _is_ours(text: str) -> bool:
    return text.startswith("// Written by cognee-memory.")
