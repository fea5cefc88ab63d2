"""Settings written into a file of the user's: its other lines stay."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bridge.settings import load
from bridge.user_settings import write_user_file, write_workspace_env
from jobs.errors import JobError
from worker.cli import main

VALUES: dict[str, str | int] = {"embedding_model": 'a "b"', "embedding_dimensions": 384}


def test_a_new_file_has_the_settings_and_the_program_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "config" / "config.toml"
    write_user_file(path, VALUES)
    settings = load(environment={"COGNEE_MEMORY_CONFIG_DIR": str(path.parent)})
    assert (settings.embedding_model, settings.embedding_dimensions) == ('a "b"', 384)


def test_other_lines_and_comments_stay_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nmax_tokens = 10\n  embedding_model="old" # once\n', "utf-8")
    for _ in range(2):
        write_user_file(path, VALUES)
        lines = path.read_text("utf-8").splitlines()
        assert lines == ["# mine", "max_tokens = 10", 'embedding_model = "a \\"b\\""', "embedding_dimensions = 384"]


@pytest.mark.parametrize(
    "text", ['embedding_model = """\nembedding_dimensions = 1\n"""\n', "[table]\nx = 1\n", "= broken"]
)
def test_a_file_of_another_form_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(JobError, match="SETTING_INVALID"):
        write_user_file(path, VALUES)
    assert path.read_text("utf-8") == text


def test_a_workspace_s_env_keeps_what_is_not_ours(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("OTHER=1\nexport EMBEDDING_MODEL=old\n", "utf-8")
    write_workspace_env(path, {"embedding_model": "new", "embedding_dimensions": 3})
    assert path.read_text("utf-8") == "OTHER=1\nEMBEDDING_MODEL=new\nEMBEDDING_DIMENSIONS=3\n"
    settings = load(environment={"COGNEE_MEMORY_CONFIG_DIR": str(tmp_path)}, workspace_env=path, trusted=True)
    assert (settings.embedding_model, settings.embedding_dimensions) == ("new", 3)


def test_a_setting_is_checked_and_written_by_its_name_or_its_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["settings", "set", "max_results", "7"]) == 0
    assert main(["settings", "set", "COGNEE_MEMORY_HTTP", "off"]) == 0
    assert (tmp_path / "config.toml").read_text("utf-8") == "max_results = 7\nhttp = false\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-drawn-at-random\n"))
    assert main(["settings", "set", "llm_api_key", "-"]) == 0
    assert "sk-drawn" not in "".join(capsys.readouterr())
    assert load().llm_api_key == "sk-drawn-at-random"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("max_results", "many", "SETTING_INVALID"),
        ("max_result", "7", "Did you mean max_results?"),
        ("config_dir", "/tmp", "There is no setting"),
        ("alpha", "0.9", "Nothing was changed."),
    ],
)
def test_a_setting_that_is_unknown_wrong_or_without_effect_is_not_written(
    tmp_path: Path, name: str, value: str, said: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("COGNEE_MEMORY_ALPHA", "0.7")
    monkeypatch.chdir(tmp_path)
    assert main(["settings", "set", name, value]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "config.toml").exists()
