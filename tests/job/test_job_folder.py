"""The default folder of profiles is made; one that was named must be there."""

from pathlib import Path

import pytest

from assay.errors import StoreError, TargetError
from assay.job.folder import make_ready, profile_folder
from assay.options import read_options


@pytest.mark.spec("M40")
def test_a_folder_named_on_the_command_line_must_exist(tmp_path: Path) -> None:
    options = read_options({})
    named = tmp_path / "named"
    with pytest.raises(TargetError, match=r"named: this folder of profiles does not exist; make it with: mkdir -p "):
        profile_folder(options, named)
    named.mkdir()
    assert profile_folder(options, named) == named


@pytest.mark.spec("M40")
def test_a_folder_named_by_the_environment_must_exist(tmp_path: Path) -> None:
    options = read_options({"ASSAY_PROFILE": str(tmp_path / "named")})
    with pytest.raises(TargetError, match="this folder of profiles does not exist"):
        profile_folder(options)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match="it is a file, expected a folder"):
        profile_folder(read_options({}), tmp_path / "file")


@pytest.mark.spec("M40")
def test_the_default_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = profile_folder(read_options({}))
    assert folder == Path("profiles")
    assert not folder.exists()
    make_ready(folder)
    assert folder.is_dir()


def test_a_folder_that_cannot_be_made_is_refused_before_any_time_is_spent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="the folder of profiles cannot be made: Not a directory"):
        make_ready(tmp_path / "file/below")
