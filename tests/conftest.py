"""What every test has: no folder, variable or profile of whoever runs the suite.

Stores, profiles and the working folder are each test's own. Compiled kernels are shared by a run's tests, for they are
found by everything they follow from; a test of compiling itself takes a folder of its own.
"""

import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from assay.ops import dispatch, forget_profiles, start_over

pytest_plugins = ["spec_report", "pytester"]

# Whoever runs the suite in the background of a script has it ignore interrupts, and its child processes after it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_VARIABLES = ("ASSAY_STORE", "ASSAY_POLICY", "ASSAY_PROFILE", "ASSAY_STRICT", "ASSAY_GATE", "ASSAY_LOG")


@pytest.fixture(scope="session")
def compiled_kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder of this run's tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_folders(
    tmp_path_factory: pytest.TempPathFactory, compiled_kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[Path]:
    """A home and a working folder of the test's own; child processes inherit them."""
    home = tmp_path_factory.mktemp("home")
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled_kernels))
    monkeypatch.setenv("ASSAY_STORE", str(home / "store"))
    monkeypatch.chdir(home)
    start_over()
    forget_profiles()
    yield home
    dispatch.hand_over(_forget)  # or the end of this process would add a test's calls to somebody's store


def _forget(counts: object) -> None:
    del counts
