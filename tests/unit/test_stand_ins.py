import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.stand_ins import import_without

LEFT_OUT = {"parcel.rest": {"Used": None}}


@pytest.fixture
def parcel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package on the path, of which nothing stays imported."""
    folder = tmp_path / "parcel"
    folder.mkdir()
    (folder / "rest.py").write_text("class Used: pass\nclass More: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "parcel"]:
        del sys.modules[name]


def test_a_package_is_imported_without_a_module_that_who_asks_gets(parcel: Path) -> None:
    (parcel / "__init__.py").write_text("from .rest import Used\n")
    import_without("parcel", LEFT_OUT)
    assert "parcel.rest" not in sys.modules
    from parcel.rest import Used  # type: ignore[import-not-found]

    assert Used.__module__ == "parcel.rest"


@pytest.mark.parametrize("text", ["from .rest import More, Used\nclass Mine(Used, More): pass\n", "1 / 0\n"])
def test_a_release_that_uses_more_is_imported_whole_or_fails_as_it_would(parcel: Path, text: str) -> None:
    (parcel / "__init__.py").write_text(text)
    if text == "1 / 0\n":
        with pytest.raises(ZeroDivisionError):
            import_without("parcel", LEFT_OUT)
        assert "parcel.rest" not in sys.modules
    else:
        import_without("parcel", LEFT_OUT)
        from parcel import Mine

        assert [each.__name__ for each in Mine.__bases__] == ["Used", "More"]
