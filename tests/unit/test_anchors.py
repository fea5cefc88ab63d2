"""Anchors in the code: what of a text is one, what becomes of it, and when nothing is said. With real repositories."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import git
from shelf import Shelf, summary

from bridge.anchors import anchor, checking, taking
from bridge.anchors.anchor import Anchor, Checked, Commit
from bridge.anchors.budget import Budget
from bridge.anchors.repository import Repository, repository_of
from bridge.anchors.words import words
from bridge.memory import Memory, Metadata

NOTE = "Tokens are renewed by refreshToken in src/auth/token.ts; MAX_RETRIES is 5. Build with `npm run build:prod`."


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "next")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write(folder, "src/auth/token.ts", "export function refreshToken() {}\nconst MAX_RETRIES = 5;\n")
    write(folder, "package.json", '{"scripts": {\n"build:prod": "vite"},\n"dependencies": {\n"react": "^18.2.0"}}\n')
    git(folder, "init", "-q", ".")
    commit(folder)
    return folder


def noted(folder: Path, text: str = NOTE) -> Memory:
    memory = Memory("m", 1, "legacy", Metadata(), "2026-11-20T12:00:00Z", text=text)
    return taking.Code(folder).anchored(memory)


def states(memory: Memory, folder: Path) -> dict[str, str]:
    found = checking.in_code([memory], folder, 10.0)
    return {each["word"]: each["state"] for each in found[1]["anchors"]} if found else {}


# --- what may be an anchor ---


WORDS_OF = [
    ("It is in src/auth/token.ts.", ["path src/auth/token.ts"]),
    ("登录在src/auth/token.ts中,由refresh_token处理。", ["path src/auth/token.ts", "name refresh_token"]),
    ("設定は`config.toml`にある。", ["path config.toml", "name config.toml"]),
    ("The state is `.state/last`.", ["path .state/last"]),
    ("The terms are in `LICENSE`.", ["path LICENSE", "name LICENSE"]),
    ("Use `--no-cache` with it.", ["name --no-cache"]),
    ("`parse_all(text, limit)` calls `Parser.parse()`.", ["name parse_all", "name Parser.parse"]),
    ("HTTP_TIMEOUT is 30 here.", ["value HTTP_TIMEOUT=30", "name HTTP_TIMEOUT"]),
    ("Wir nutzen TypeScript 4.2.2.", ["value TypeScript=4.2.2", "name TypeScript"]),
    ("用 golang 1.13.0 构建。", ["value golang=1.13.0"]),
    ("Start it with `make serve` there.", ["command serve"]),
    ("Lancez `npm run build:prod`.", ["command build:prod", "name build:prod"]),
    ("See https://example.org/src/main.py for more.", []),
    ("We go to the sea in July, all of us.", []),
    ("Remove `old_name` and rename new_name.", []),
    ("Wir ersetzen old_name durch new_name.", []),
    ("The job deletes rows by delete_rows.", ["name delete_rows"]),
]


@pytest.mark.parametrize(("text", "expected"), WORDS_OF)
def test_paths_names_options_tasks_and_versions_in_any_language_are_words(text: str, expected: list[str]) -> None:
    found = [f"{each.kind} {each.text}" + (f"={each.value}" if each.value else "") for each in words(text)]
    assert [each for each in found if each in expected or not expected] == expected


IN_A_LINE = [
    ("name", "refresh", b"refreshToken()", False),
    ("name", "refreshToken", b"  this.refreshToken()", True),
    ("name", "--cache", b'"--cache-dir"', False),
    ("command", "build", b"build: lint", True),
    ("command", "build", b'  "build": "vite",', True),
    ("command", "build", b"[tasks.build]", True),
    ("command", "build", b"lint: build", False),
    ("value", "React=18.2", b'"react": "^18.2.1"', True),
    ("value", "React=18.2", b'"react": "^18.20.0"', False),
    ("value", "mocha=8.2.1", b'"@types/mocha": "8.2.1"', False),
    ("value", "Python=3.11", b'requires-python = ">=3.11"', True),
    ("value", "MAX=5", b"MAX = 50", False),
]


@pytest.mark.parametrize(("kind", "word", "line", "stands"), IN_A_LINE)
def test_a_word_stands_whole_a_value_by_its_name(kind: anchor.AnchorKind, word: str, line: bytes, stands: bool) -> None:
    assert anchor.in_file(kind, word, b"first\n" + line + b"\nlast") is stands


def test_a_comment_is_no_reason_for_an_anchor_and_keeps_one() -> None:
    assert not anchor.in_file("name", "refreshToken", b"// refreshToken is old\n", is_new=True)
    assert anchor.in_file("name", "refreshToken", b"// refreshToken is old\n")


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b", ".git/config", "C:/x", "a\\b", "a\x1b[2Jb"])
def test_a_stored_path_that_leads_elsewhere_or_has_invisible_characters_is_not_read(path: str) -> None:
    stored = [f"commit {'a' * 40} main", f"path {'b' * 40} {path}", "name good src/a.py"]
    assert [each.file for _, anchors in anchor.read(stored) for each in anchors] == ["src/a.py"]


def test_what_is_gone_is_said_first_and_what_is_there_only_if_all_is() -> None:
    token, file = Anchor("name", "refreshToken", "a.ts"), Anchor("path", "b" * 40, "a.ts")
    assert anchor.remark([Checked(token, "verified"), Checked(file, "gone")]) == "file is gone: a.ts"
    assert anchor.remark([Checked(token, "verified")]) == "verified in the code: refreshToken"
    assert anchor.worst(["verified", "changed", "not_found"]) == "not_found"


# --- what becomes of it ---


def test_only_what_stands_in_the_code_is_kept_with_the_commit_and_the_branch(project: Path) -> None:
    kept = noted(project, f"{NOTE} Also `inventedName` of src/no.ts, and React 19.0.0.").metadata.anchors
    head = git(project, "rev-parse", "HEAD").strip()
    blob = git(project, "rev-parse", "HEAD:src/auth/token.ts").strip()
    assert kept == (
        f"commit {head} main",
        f"path {blob} src/auth/token.ts",
        "name refreshToken src/auth/token.ts",
        "value MAX_RETRIES=5 src/auth/token.ts",
        "name MAX_RETRIES src/auth/token.ts",
        "command build:prod package.json",
        "name build:prod package.json",
    )


LATER_TREES = [
    ("README.md", "Other words.", "refreshToken", "verified"),
    ("src/auth/token.ts", "export function renew() {}\n", "refreshToken", "not_found"),
    ("src/auth/token.ts", "export function renew() {}\n", "src/auth/token.ts", "changed"),
    ("src/auth/token.ts", "refreshToken\nconst MAX_RETRIES = 8;\n", "MAX_RETRIES 5", "not_found"),
    ("src/auth/token.ts", "refreshToken\nconst MAX_RETRIES = 8;\n", "MAX_RETRIES", "verified"),
    ("package.json", '{"scripts": {"build": "vite"}}', "build:prod", "not_found"),
]


@pytest.mark.parametrize(("path", "text", "word", "state"), LATER_TREES)
def test_a_later_tree_says_what_is_still_there(project: Path, path: str, text: str, word: str, state: str) -> None:
    memory = noted(project)
    write(project, path, text)
    commit(project)
    assert states(memory, project)[word] == state


def test_a_word_that_moved_into_another_file_even_an_untracked_one_is_found(project: Path) -> None:
    memory = noted(project)
    write(project, "src/auth/token.ts", "export {}\n")
    write(project, "lib/new/token.ts", "export function refreshToken() {}\n")
    assert states(memory, project)["refreshToken"] == "verified"


def test_a_file_that_a_text_names_whole_is_gone_and_one_that_it_names_by_its_end_may_have_moved(project: Path) -> None:
    whole, end = noted(project), noted(project, "Tokens: `token.ts`.")
    git(project, "mv", "src/auth/token.ts", "token.ts")
    assert states(whole, project)["src/auth/token.ts"] == "gone"
    assert states(end, project) == {"src/auth/token.ts": "changed"}
    (project / "token.ts").unlink()
    assert states(end, project) == {"src/auth/token.ts": "gone"}


def lose_all(project: Path) -> None:
    write(project, "src/auth/token.ts", "export {}\n")
    commit(project)


MOVES = [
    (lambda project: lose_all(project), True),
    # another branch, on which it never was
    (lambda project: (git(project, "checkout", "-q", "--orphan", "other"), lose_all(project)), False),
    # another branch that came from it
    (lambda project: (git(project, "checkout", "-qb", "other"), lose_all(project)), True),
    # its branch was merged in another form, and removed
    (
        lambda project: (
            git(project, "checkout", "-q", "--orphan", "other"),
            lose_all(project),
            git(project, "branch", "-qD", "main"),
        ),
        True,
    ),
    # all in one pack, as after a clone
    (lambda project: (git(project, "checkout", "-qb", "other"), lose_all(project), git(project, "gc", "-q")), True),
]


@pytest.mark.parametrize(("moves", "is_said"), MOVES)
def test_only_what_must_have_been_is_said_gone(project: Path, moves: Callable[[Path], object], is_said: bool) -> None:
    memory = noted(project)
    moves(project)
    assert (states(memory, project).get("refreshToken") == "not_found") is is_said


def test_nothing_is_said_without_the_tree_in_another_project_or_out_of_time(project: Path, tmp_path: Path) -> None:
    memory = noted(project)
    other = tmp_path / "other"
    write(other, "package.json", "{}")
    assert states(memory, other) == {}
    git(other, "init", "-q", ".")
    commit(other)
    assert states(memory, other) == {}
    assert checking.in_code([memory], project, 0.0) == {}
    assert checking.in_code([noted(other, "We go to the sea.")], project) == {}


def test_a_memory_without_such_words_reads_no_tree(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking, "Tree", lambda *_: object())
    assert noted(project, "The team goes to the sea in July.").metadata.anchors == ()


def test_a_link_out_of_the_tree_is_not_followed(project: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/secret_name.ts", "const secretName = 1;\n")
    (project / "linked.ts").symlink_to(tmp_path / "outside" / "secret_name.ts")
    (project / "folder").symlink_to(tmp_path / "outside")
    assert noted(project, "`secretName` in linked.ts and folder/secret_name.ts.").metadata.anchors == ()


# --- git's files ---


def repository(folder: Path) -> Repository:
    return repository_of(folder)


def test_commit_and_branch_come_from_packed_refs_worktrees_and_a_detached_head(project: Path, tmp_path: Path) -> None:
    head = git(project, "rev-parse", "HEAD").strip()
    git(project, "pack-refs", "--all")
    assert repository(project / "src").commit() == Commit(head, "main")
    assert repository(project).has_branch("main")
    assert not repository(project).has_branch("../../config")
    git(project, "worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "linked"))
    assert repository(tmp_path / "linked").commit() == Commit(head, "feature/x")
    assert repository(tmp_path / "linked").objects.has(head)
    git(project, "checkout", "-q", "--detach")
    assert repository(project).commit() == Commit(head, "")


def test_a_git_file_that_the_checkout_does_not_know_is_no_repository(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "-q", "-b", "x", str(tmp_path / "linked"))
    write(tmp_path, "copied/.git", (tmp_path / "linked" / ".git").read_text())
    assert repository_of(tmp_path / "copied") is None


@pytest.mark.parametrize("where", ["HEAD", "refs/heads/main"])
def test_a_file_of_git_that_is_a_link_is_not_read(project: Path, tmp_path: Path, where: str) -> None:
    path = project / ".git" / where
    write(tmp_path, "elsewhere", path.read_text())
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    assert repository(project).commit() is None


def test_which_commit_came_first_is_told_as_by_git_from_loose_and_packed_objects_and_deltas(project: Path) -> None:
    for number in range(12):
        if number == 6:
            git(project, "checkout", "-qb", "side", "HEAD~2")
        write(project, f"n{number}", "x" * number)
        git(project, "add", "-A")
        git(project, "commit", "-qm", f"{number} " + "a message that is long enough to be packed as a delta " * 20)
    for pack in ("none", "gc"):
        if pack == "gc":
            git(project, "-c", "pack.window=50", "gc", "-q", "--aggressive")
        ids = git(project, "rev-list", "--all").split()
        objects = repository(project).objects
        for earlier in ids[::2]:
            for later in ids:
                after = subprocess.run(["git", "merge-base", "--is-ancestor", earlier, later], cwd=project, check=False)
                assert objects.is_before(earlier, later, Budget(9)) is (after.returncode == 0)
    assert not repository(project).objects.has("a" * 40)


def test_a_damaged_pack_is_an_absent_one(project: Path) -> None:
    git(project, "gc", "-q")
    head = git(project, "rev-parse", "HEAD").strip()
    for path in (project / ".git" / "objects" / "pack").iterdir():
        path.chmod(0o600)
        path.write_bytes(b"\xfftOc\0\0\0\2" + os.urandom(100) if path.suffix == ".idx" else b"PACK")
    objects = repository(project).objects
    assert not objects.has(head)
    assert not objects.is_before(head, "b" * 40, Budget(9))


# --- in answers ---


def test_answers_notes_and_lists_say_it_and_no_score_changes(project: Path) -> None:
    shelf = Shelf(project).add(*map(taking.Code(project).anchored, [summary("a", NOTE), summary("b", "The sea.")]))
    before = shelf.retrieve("tokens")
    write(project, "src/auth/token.ts", "export {}\n")
    commit(project)
    after = shelf.retrieve("tokens")
    scores = [[(hit["memory_id"], hit["score"]) for hit in answer["results"]] for answer in (before, after)]
    assert scores[0] == scores[1]
    said = [{hit["memory_id"]: hit.get("in_code", {}).get("state") for hit in it["results"]} for it in (before, after)]
    assert said == [{"a": "verified", "b": None}, {"a": "not_found", "b": None}]
    remark = after["results"][0]["in_code"]["remark"]
    assert remark == (
        "no longer in the code: refreshToken (src/auth/token.ts), MAX_RETRIES 5 (src/auth/token.ts),"
        " MAX_RETRIES (src/auth/token.ts); changed since: src/auth/token.ts"
    )
    assert f"> [{remark}]" in shelf.context("tokens")["context"]
    assert [item.get("in_code", {}).get("state") for item in shelf.explain(ids=[1, 2])["items"]] == ["not_found", None]
