"""Settings: which source wins, what a workspace may set, and the user's own file."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.settings import SETTINGS, Settings, as_environment, load, table, variable
from bridge.user_settings import write_user_file, write_workspace_env
from jobs.errors import JobError
from worker.cli import main


class Sources:
    """The four places that a value may come from."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config"
        self.config.mkdir()
        self.env_file = folder / ".env"
        self.environment = {"COGNEE_MEMORY_CONFIG_DIR": str(self.config)}

    def toml(self, text: str) -> None:
        (self.config / "config.toml").write_text(text, "utf-8")

    def dotenv(self, text: str) -> None:
        self.env_file.write_text(text, "utf-8")

    def load(self, *, trusted: bool = False, **overrides: Any) -> Settings:
        return load(overrides, environment=self.environment, workspace_env=self.env_file, trusted=trusted)

    def refused(self, *, trusted: bool = False, **overrides: Any) -> JobError:
        with pytest.raises(JobError, match="SETTING_INVALID") as caught:
            self.load(trusted=trusted, **overrides)
        return caught.value


def values(settings: Settings) -> list[Any]:
    return [getattr(settings, name) for name in SETTINGS]


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


def test_without_any_source_the_defaults_are_in_force(sources: Sources) -> None:
    found = sources.load()
    assert (found.max_results, found.batch_size, found.test_jobs) == (5, 64, False)
    assert found.embedding_model == "sentence-transformers/all-MiniLM-L6-v2"
    assert found.sources == {"config_dir": "environment"}


def test_each_source_gives_way_to_the_one_before_it(sources: Sources) -> None:
    sources.toml("max_results = 2")
    assert sources.load().max_results == 2
    sources.dotenv("COGNEE_MEMORY_MAX_RESULTS=3")
    assert sources.load().max_results == 3
    sources.environment["COGNEE_MEMORY_MAX_RESULTS"] = "4"
    assert sources.load().max_results == 4
    found = sources.load(max_results=6)
    assert found.max_results == 6
    assert found.sources["max_results"] == "command line"


def test_the_source_of_each_value_is_known(sources: Sources) -> None:
    sources.toml("max_results = 2\nmax_tokens = 50")
    sources.dotenv("COGNEE_MEMORY_MAX_RESULTS=3\nCOGNEE_MEMORY_ALPHA=0.7")
    found = sources.load()
    assert dict(found.sources) == {
        "config_dir": "environment",
        "max_results": ".env of the workspace",
        "max_tokens": "config.toml",
        "alpha": ".env of the workspace",
    }


def test_what_is_none_or_empty_is_not_given(sources: Sources) -> None:
    sources.toml("max_results = 2")
    sources.environment["COGNEE_MEMORY_MAX_RESULTS"] = ""
    assert sources.load(max_results=None).max_results == 2


def test_text_becomes_the_type_of_the_setting(sources: Sources) -> None:
    sources.environment |= {
        "COGNEE_MEMORY_TEST_JOBS": " Yes ",
        "COGNEE_MEMORY_RESCAN_SECONDS": "0.5",
        "COGNEE_MEMORY_CACHE_DIR": "~/models",
        "COGNEE_MEMORY_HALF_LIFE_DAYS": "30",
    }
    found = sources.load()
    assert (found.test_jobs, found.rescan_seconds, found.half_life_days) == (True, 0.5, 30.0)
    assert found.cache_dir == Path.home() / "models"
    assert found.cache_folder == Path.home() / "models"


BAD_VALUES = [
    ("COGNEE_MEMORY_MAX_RESULTS", "many", "invalid literal"),
    ("COGNEE_MEMORY_MAX_RESULTS", "2.5", "invalid literal"),
    ("COGNEE_MEMORY_MAX_RESULTS", "-1", "at least 0"),
    ("COGNEE_MEMORY_RESCAN_SECONDS", "nan", "at least 0"),
    ("COGNEE_MEMORY_RESCAN_SECONDS", "inf", "at least 0"),
    ("COGNEE_MEMORY_TEST_JOBS", "perhaps", "true or false"),
    ("COGNEE_MEMORY_RANKING_PRESET", "forever", "one of contract, long-lived"),
    ("COGNEE_MEMORY_LOG_LEVEL", "LOUD", "one of DEBUG"),
]


@pytest.mark.parametrize(("name", "value", "why"), BAD_VALUES)
def test_a_bad_value_is_refused_with_its_variable_and_source(sources: Sources, name: str, value: str, why: str) -> None:
    sources.environment[name] = value
    error = sources.refused()
    assert error.message.startswith(f"{name} (environment): ")
    assert why in error.message


@pytest.mark.parametrize("value", ["2.5", "true", '"two"', "[2]", "nan"])
def test_the_configuration_file_is_checked_as_strictly(sources: Sources, value: str) -> None:
    sources.toml(f"max_results = {value}")
    assert "COGNEE_MEMORY_MAX_RESULTS (config.toml)" in sources.refused().message


@pytest.mark.parametrize(
    ("line", "said"), [("embedding_model = ['a']", "EMBEDDING_MODEL (config.toml)"), ("max_result = 2", "'max_result'")]
)
def test_a_text_that_is_none_and_an_unknown_name_are_refused(sources: Sources, line: str, said: str) -> None:
    sources.toml(line)
    assert said in sources.refused().message


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_pipe_in_place_of_the_configuration_file_holds_nobody_up(sources: Sources) -> None:
    os.mkfifo(sources.config / "config.toml")
    with pytest.raises(JobError, match=r"no plain file"):
        sources.load()


def test_a_broken_configuration_file_is_refused_with_its_path(sources: Sources) -> None:
    sources.toml("max_results = ")
    assert str(sources.config / "config.toml") in sources.refused().message


@pytest.mark.parametrize("trusted", [False, True])
def test_a_workspace_may_set_ranking_and_limits(sources: Sources, trusted: bool) -> None:
    sources.dotenv("COGNEE_MEMORY_HALF_LIFE_DAYS=30\nCOGNEE_MEMORY_MAX_ACTIVE_JOBS=700")
    found = sources.load(trusted=trusted)
    assert (found.half_life_days, found.max_active_jobs) == (30.0, 700)


LIMITS = {
    "max_job_bytes": (1, 64 * 1024, 99_999_999_999),
    "max_active_jobs": (0, 100, 10**9),
    "max_attempts": (0, 1, 10**6),
    "max_tokens": (0, 200, 10**9),
    "relevance_floor": (0, 0, 1),
}


@pytest.mark.parametrize("name", LIMITS)
def test_an_untrusted_workspace_lowers_limits_but_raises_or_closes_nothing(sources: Sources, name: str) -> None:
    low, lowest, high = LIMITS[name]
    unset = getattr(sources.load(), name)
    default = 0.2 if unset is None else unset  # what an unset relevance floor begins with
    sources.dotenv(f"{variable(name)}={high}")
    assert getattr(sources.load(), name) == default
    assert getattr(sources.load(trusted=True), name) == high
    sources.dotenv(f"{variable(name)}={low}")
    assert getattr(sources.load(), name) == lowest
    sources.toml(f"{name} = {lowest}")  # the user's own value is the bound
    sources.dotenv(f"{variable(name)}={default}")
    assert getattr(sources.load(), name) == lowest
    sources.environment[variable(name)] = str(low)  # and the user's environment is not bounded
    assert getattr(sources.load(), name) == low


def test_no_workspace_says_how_much_of_the_disk_stays_free(sources: Sources) -> None:
    sources.dotenv("COGNEE_MEMORY_MIN_FREE_BYTES=999999999999999")
    assert values(sources.load()) == values(load(environment=sources.environment))


PROVIDERS = """
EMBEDDING_PROVIDER=openai
EMBEDDING_MODEL=theirs
EMBEDDING_ENDPOINT=https://elsewhere.example
EMBEDDING_API_KEY=their-key
LLM_ENDPOINT=https://elsewhere.example
LLM_API_KEY=their-key
COGNEE_MEMORY_TEST_JOBS=1
COGNEE_MEMORY_RERANK_MODEL=/elsewhere
COGNEE_MEMORY_RERANK_ENDPOINT=https://elsewhere.example
COGNEE_MEMORY_RERANK_API_KEY=their-key
COGNEE_MEMORY_CONFIG_DIR=/elsewhere
COGNEE_MEMORY_CACHE_DIR=/elsewhere
"""


def test_a_workspace_that_is_not_trusted_may_not_set_providers_and_keys(sources: Sources) -> None:
    sources.dotenv(PROVIDERS)
    found = sources.load()
    assert values(found) == values(load(environment=sources.environment))
    assert (found.embedding_provider, found.embedding_endpoint, found.llm_endpoint) == ("fastembed", None, None)


def test_a_trusted_workspace_may_set_providers_and_keys_but_not_where_things_lie(sources: Sources) -> None:
    sources.dotenv(PROVIDERS)
    found = sources.load(trusted=True)
    expected = ("openai", "their-key", "their-key")
    assert (found.embedding_provider, found.embedding_api_key, found.llm_api_key) == expected
    assert (found.config_dir, found.cache_dir, found.test_jobs) == (sources.config, None, False)
    assert (found.rerank_model, found.rerank_endpoint, found.reranking) == (None, None, None)


def test_a_value_of_the_workspace_is_taken_literally(sources: Sources) -> None:
    """Nothing of the user's environment may be pulled into a value, as $NAME would."""
    sources.dotenv("LLM_MODEL=${LLM_API_KEY}\nCOGNEE_MEMORY_MAX_RESULTS=3")
    sources.environment["LLM_API_KEY"] = "secret"
    assert sources.load(trusted=True).llm_model == "${LLM_API_KEY}"


@pytest.mark.parametrize("group", ["llm", "embedding"])
def test_a_key_never_meets_an_endpoint_from_another_source(sources: Sources, group: str) -> None:
    sources.dotenv(f"{group.upper()}_ENDPOINT=https://elsewhere.example")
    sources.environment[f"{group.upper()}_API_KEY"] = "my-key"
    found = sources.load(trusted=True)
    assert getattr(found, f"{group}_api_key") == "my-key"
    assert getattr(found, f"{group}_endpoint") is None
    assert f"{group}_endpoint" not in found.sources


def test_key_and_endpoint_of_one_source_stay_together_and_else_the_weaker_gives_way(sources: Sources) -> None:
    sources.toml('llm_api_key = "from the file"\nllm_endpoint = "https://file.example"')
    found = sources.load()
    assert (found.llm_endpoint, found.llm_api_key) == ("https://file.example", "from the file")
    sources.environment["LLM_ENDPOINT"] = "https://environment.example"
    found = sources.load()
    assert (found.llm_endpoint, found.llm_api_key) == ("https://environment.example", None)


def test_a_separation_survives_the_way_into_a_process_of_ours(sources: Sources) -> None:
    """The child reads the configuration file again: the endpoint that lost must not come back beside the key."""
    sources.toml('llm_endpoint = "https://file.example"')
    sources.environment["LLM_API_KEY"] = "my-key"
    first = sources.load()
    again = load(environment=as_environment(first))
    assert (again.llm_api_key, again.llm_endpoint) == ("my-key", None)
    assert values(again) == values(first)


def test_the_settings_survive_the_way_into_a_process_of_ours(sources: Sources) -> None:
    sources.environment |= {"COGNEE_MEMORY_TEST_JOBS": "1", "COGNEE_MEMORY_RANKING_MODE": "blend", "LLM_MODEL": "m"}
    first = sources.load(max_results=7, half_life_days=3.25)
    assert values(load(environment=as_environment(first))) == values(first)


def test_a_secret_is_shown_neither_by_the_table_nor_by_the_text_of_the_settings(sources: Sources) -> None:
    """The text is what a log line or a traceback would show."""
    sources.environment |= {"LLM_API_KEY": "sk-secret-1", "EMBEDDING_API_KEY": "sk-secret-2"}
    found = sources.load()
    shown = {row.name: row for row in table(found)}
    assert "sk-secret" not in str(table(found))
    assert (shown["llm_api_key"].value, shown["llm_api_key"].source) == ("(set)", "environment")
    assert "sk-secret" not in repr(found)
    assert "sk-secret" not in repr(found.embedding)


def test_the_value_of_a_secret_is_not_in_the_error_about_it(sources: Sources) -> None:
    sources.toml("llm_api_key = ['sk-secret-1']")
    assert "sk-secret" not in sources.refused().message


def test_the_table_shows_every_setting_with_its_variable_and_meaning(sources: Sources) -> None:
    rows = table(sources.load(max_results=7))
    by_name = {row.name: row for row in rows}
    assert (by_name["max_results"].value, by_name["max_results"].source) == ("7", "command line")
    assert by_name["max_tokens"].source == "default"
    assert by_name["config_dir"].value == str(sources.config)
    assert by_name["cache_dir"].value != ""
    assert all(row.help.endswith(".") or row.help.endswith("status.") for row in rows), "each has a sentence"
    assert len({row.variable for row in rows}) == len(rows)


def test_variables_have_the_prefix_or_are_cognees_own() -> None:
    assert variable("max_results") == "COGNEE_MEMORY_MAX_RESULTS"
    assert variable("llm_api_key") == "LLM_API_KEY"
    for row in table(Settings(config_dir=Path("x"), cache_dir=Path("x"))):
        assert row.variable.startswith(("COGNEE_MEMORY_", "LLM_", "EMBEDDING_"))


def test_the_embedding_settings_become_one_configuration() -> None:
    found = Settings(embedding_provider="openai", embedding_model="m", embedding_dimensions=8, embedding_api_key="k")
    config = found.embedding
    assert (config.provider, config.model, config.dimensions, config.api_key, config.endpoint) == (
        "openai", "m", 8, "k", "",
    )  # fmt: skip


# --- the reranker ---


def test_a_reranker_is_in_a_folder_of_the_user_or_behind_an_endpoint(sources: Sources, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("USERPROFILE", "/home/me")
    assert sources.load().reranking is None
    sources.toml('rerank_model = "~/minilm"\nrerank_hits = 30')
    local = sources.load().reranking
    assert (local.is_local, local.hits) == (True, 30)
    assert Path(local.model) == Path("/home/me/minilm")
    sources.toml('rerank_model = "~/judge"\nrerank_endpoint = "https://judge.example/rerank"\nrerank_api_key = "k-1"')
    remote = sources.load().reranking
    assert (remote.is_local, remote.model, remote.api_key) == (False, "~/judge", "k-1")
    assert "k-1" not in repr(sources.load())


def test_the_rerankers_key_never_meets_an_endpoint_from_another_source(sources: Sources) -> None:
    sources.toml('rerank_model = "judge"\nrerank_api_key = "k-1"')
    sources.environment["COGNEE_MEMORY_RERANK_ENDPOINT"] = "https://elsewhere.example"
    found = sources.load()
    assert (found.rerank_endpoint, found.rerank_api_key) == ("https://elsewhere.example", None)


# --- user settings ---


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


OTHER_FILES = ['embedding_model = """\nembedding_dimensions = 1\n"""\n', "[table]\nx = 1\n", "= broken"]


@pytest.mark.parametrize("text", OTHER_FILES)
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


UNWRITTEN = [
    ("max_results", "many", "SETTING_INVALID"),
    ("max_result", "7", "Did you mean max_results?"),
    ("config_dir", "/tmp", "There is no setting"),
    ("alpha", "0.9", "Nothing was changed."),
]


@pytest.mark.parametrize(("name", "value", "said"), UNWRITTEN)
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


AFTER_IMPORT = """
from bridge.settings import import_numpy
import_numpy()
import ast, inspect, pickle, platform, textwrap
import numpy as np
assert str(inspect.signature(lambda a, b=1: 0)) == "(a, b=1)"
assert inspect.cleandoc("  a\\n    b") == "a\\nb"
assert "dtype" in inspect.signature(np.mean).parameters
assert ast.literal_eval("[1]") == [1]
assert textwrap.dedent("  a") == "a"
assert platform.machine()
assert pickle.loads(pickle.dumps(np.arange(3))).tolist() == [0, 1, 2]
assert np.einsum("ij->i", np.eye(2)).tolist() == [1, 1]
from numpy.typing import NDArray
import numpy.testing
numpy.testing.assert_allclose(np.random.default_rng(0).random(1), 0.6369616873214543)
assert "int8" in str(NDArray[np.int8])
"""


def test_after_numpy_was_imported_for_a_question_everything_is_whole() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", AFTER_IMPORT], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
