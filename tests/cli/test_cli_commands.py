"""What is typed wrongly is one line that says what to do, exit code 2, and nothing is left behind."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from assay.cli import main

OPS = """
    import assay


    @assay.op(
        "forall N: Dim; T: DType[float32 | float64]. (x: T[N]) -> (y: T[N])",
        shapes=[{"N": 3000, "T": "float32"}, {"N": 1000, "T": "float64"}],
    )
    def twice(x):
        return x + x


    @twice.kernel(tunables={"times": [20, 1]}, default={"times": 20})
    def repeated(x, *, y, times):
        for _ in range(times):
            y[:] = x + x
"""


@pytest.fixture(autouse=True)
def a_folder_with_a_target(own_folders: Path) -> Iterator[Path]:
    modules, path = set(sys.modules), list(sys.path)
    (own_folders / "mine.py").write_text(dedent(OPS))
    yield own_folders
    for name in set(sys.modules) - modules:
        if name.startswith("assay_file_"):
            del sys.modules[name]
    sys.path[:] = path


@pytest.mark.spec("M40")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["tune", "mime.py"], "assay: mime.py: there is no such file; did you mean mine.py?"),
        (["tune", "mine.py:twise"], "assay: no op 'twise' in mine.py; did you mean 'twice'?"),
        (["tune", "qqzz.ops"], "assay: no module 'qqzz'; name it as package.module"),
        (["tune", "mine.py", "--profile", "absent"], "assay: absent: this folder of profiles does not exist; make it"),
        (["tune", "mine.py", "--shpae", "N=1"], "assay: no option --shpae; did you mean --shape?"),
        (["tune", "mine.py", "--shape", "N"], "assay: shape 'N': expected NAME=VALUE, got 'N'"),
        (["tune", "mine.py", "--budget", "soon"], "assay: budget 'soon': expected a time above zero"),
        (["tune", "mine.py", "--strategy", "decent"], "assay: no strategy 'decent'; did you mean 'descent'?"),
        (["tune", "mine.py", "--device", "cuda"], "assay: no device 'cuda'; there is 'cpu'"),
        (["tune", "mine.py", "--seed", "x"], "assay: invalid value for '--seed'"),
        (["tune"], "assay: missing argument 'TARGET'"),
        (["tnue", "mine.py"], "assay: no command 'tnue'; did you mean 'tune'?"),
        (["qqq"], "assay: no command 'qqq'; there are tune, explain, records, dispatch, doctor"),
        (["tune", "gemm,softmax"], "assay: 'gemm,softmax': one target is given at a time"),
        (["explain", "mine.py", "N=5,M=2,T=float32"], "assay: twice: "),
        (["records", "--kind", "autotuen"], "assay: no kind of record 'autotuen'; did you mean 'autotune'?"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_do(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str], own_folders: Path
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith(line)
    assert len(said.err.splitlines()) == 1
    assert said.out == ""
    assert not (own_folders / "profiles").exists()


def test_a_variable_with_a_value_it_cannot_have_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_POLICY", "sometimes")
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == ("assay: ASSAY_POLICY=sometimes: expected one of off, cached, measure, frozen\n")


def test_when_nothing_can_be_tuned_it_is_wrong_use_and_the_missing_index_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tune", "mine.py", "--shape", "T=float32"]) == 2
    said = capsys.readouterr()
    (complaint,) = said.err.splitlines()
    assert complaint.startswith("assay: nothing could be tuned: twice: ")
    assert "lacks N" in complaint
    assert said.out == "", "the reason is said once"


def test_when_no_shape_can_be_tuned_each_reason_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    shapes = ("--shape", "T=float32", "--shape", "N=1,T=int8")
    for arguments in (["tune", "mine.py", *shapes], ["tune", "mine.py", *shapes, "--plan"]):
        assert main(arguments) == 2
        said = capsys.readouterr()
        head, *reasons = said.err.splitlines()
        assert head == "assay: nothing could be tuned: all 2 shapes failed"
        assert [reason.split(": failed: ")[0] for reason in reasons] == ["  twice T=float32", "  twice N=1,T=int8"]
        assert said.out == ""


def test_help_names_every_command_and_no_command_asks_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], []):
        assert main(arguments) == 0
        shown = capsys.readouterr().out
        for command in ("tune", "explain", "records", "dispatch", "doctor"):
            assert command in shown


def test_a_plan_says_what_competes_and_leaves_nothing(capsys: pytest.CaptureFixture[str], own_folders: Path) -> None:
    assert main(["tune", "mine.py", "--plan"]) == 0
    shown = capsys.readouterr().out
    assert "N=3000, T=float32" in shown
    assert "repeated[times=20]" in shown
    last = shown.splitlines()[-1]
    assert last.startswith("would write profiles/")
    assert last.endswith(".json")
    assert not (own_folders / "profiles").exists()
