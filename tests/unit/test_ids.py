"""Job ids."""

import re
import time
import uuid

import pytest
from hypothesis import given, strategies as st

from jobs.ids import is_job_id, new_job_id


@pytest.mark.parametrize("text", ["a", "0", "a" * 64, "0193c7a2-ingest-7f3a", "a_b", "com", "console", "com10", "lpt"])
def test_a_job_id_is_lower_case_and_short(text: str) -> None:
    assert is_job_id(text)


NO_IDS = ["", "a" * 65, "A", "-a", "_a", ".a", "a.b", "a/b", "..", "a b", "a\n", "ä", "a\0", "٣"]
DEVICES_OF_WINDOWS = ["con", "prn", "aux", "nul", "com0", "com9", "lpt0", "lpt9"]


@pytest.mark.parametrize("text", [*NO_IDS, *DEVICES_OF_WINDOWS])
def test_what_could_leave_the_folder_or_clash_on_another_system_is_no_job_id(text: str) -> None:
    assert not is_job_id(text)


@given(st.text(max_size=70))
def test_a_job_id_is_a_plain_file_name(text: str) -> None:
    if is_job_id(text):
        assert re.fullmatch(r"[a-z0-9_-]{1,64}", text, re.ASCII)


def test_a_new_id_is_a_uuid_of_version_7() -> None:
    made = uuid.UUID(new_job_id())
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert is_job_id(str(made))


def test_ids_made_later_sort_later(monkeypatch: pytest.MonkeyPatch) -> None:
    day = 1_700_000_000_000_000_000
    moments = iter([1_000_000_000, 1_001_000_000, day, day + 300, day + 999_999, day + 1_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(moments))
    made = [new_job_id() for _ in range(6)]
    assert made == sorted(made)


def test_ids_made_at_the_same_moment_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    assert len({new_job_id() for _ in range(1000)}) == 1000
