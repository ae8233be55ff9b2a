"""The `assay` command in processes of its own: what it prints and where, what it leaves, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

PATIENCE_S = 120

OPS = """
    import os

    import numpy as np
    import assay

    print("the target's own words")
    os.system("echo a program it started")


    @assay.op(
        "forall N: Dim; T: DType[float32 | float64]. (x: T[N]) -> (y: T[N])",
        shapes=[{"N": 3000, "T": "float32"}, {"N": 1000, "T": "float64"}],
    )
    def twice(x):
        return x + x


    @twice.kernel(tunables={"times": [20, 1]}, default={"times": 20})
    def repeated(x, *, y, times):
        for _ in range(times):
            np.add(x, x, out=y)


    @twice.kernel
    def wrong(x, *, y):
        np.multiply(x, 3, out=y)


    @twice.kernel(serves="N == 1")
    def raises(x, *, y):
        raise ArithmeticError("never again")
"""


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, object]:
        """The one document on standard output."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def complaint(self) -> str:
        """The one line on standard error that is ours."""
        (line,) = [line for line in self.err.splitlines() if line.startswith("assay: ")]
        return line


@dataclass(frozen=True)
class Place:
    """A folder to work in, with a store of its own."""

    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a command."""
        mine = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
        return {**mine, "ASSAY_STORE": str(self.folder / "store"), "XDG_CACHE_HOME": str(self.folder / "cache")}

    def run(self, *arguments: str, **variables: str) -> Ended:
        """Runs `assay` to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "assay", *arguments],
            cwd=self.folder,
            env={**self.variables, **variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Starts `assay`, both outputs to be read from it."""
        return subprocess.Popen(
            [sys.executable, "-m", "assay", *arguments],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def profiles(self) -> dict[str, bytes]:
        """The profiles by name."""
        return {path.name: path.read_bytes() for path in (self.folder / "profiles").glob("*")}


def make_place(folder: Path) -> Place:
    (folder / "mine.py").write_text(dedent(OPS))
    return Place(folder)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


@dataclass(frozen=True)
class Tuned:
    """A place where everything was tuned, and what the command said."""

    place: Place
    ended: Ended


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    place = make_place(tmp_path_factory.mktemp("tuned"))
    return Tuned(place, place.run("tune", "mine.py", "--json"))


def shapes_of(ended: Ended) -> list[dict[str, object]]:
    shapes = ended.document["shapes"]
    assert isinstance(shapes, list)
    return shapes  # pyright: ignore[reportUnknownVariableType]


def test_the_version_and_the_commands_are_said_without_loading_numpy(place: Place) -> None:
    assert place.run("--version").out.startswith("assay 0.")
    for ended in (place.run("--help"), place.run()):
        assert ended.code == 0
        for command in ("tune", "explain", "records", "dispatch", "doctor"):
            assert command in ended.out
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, assay.cli.entry; print('numpy' in sys.modules, 'rich.table' in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout == "False False\n"


@pytest.mark.spec("M37")
def test_tuning_a_file_decides_each_shape_and_writes_the_profile(tuned: Tuned) -> None:
    assert tuned.ended.code == 0
    shapes = shapes_of(tuned.ended)
    assert [(shape["op"], shape["shape"]) for shape in shapes] == [
        ("twice", {"N": 3000, "T": "float32"}),
        ("twice", {"N": 1000, "T": "float64"}),
    ]
    assert tuned.ended.document["failures"] == []
    profile = tuned.place.folder / str(tuned.ended.document["profile"])
    assert profile.parent == tuned.place.folder / "profiles"
    entries = json.loads(profile.read_text())["entries"]
    assert [entry["when"] for entry in entries] == [{"N": 1000, "T": "float64"}, {"N": 3000, "T": "float32"}]
    chosen = {entry["when"]["N"]: {"kernel": entry["kernel"], "setting": entry["set"]} for entry in entries}
    assert chosen == {3000: shapes[0]["winner"], 1000: shapes[1]["winner"]}


def test_kernels_of_a_file_run_in_the_worker_and_a_wrong_one_is_refused(tuned: Tuned) -> None:
    for shape in shapes_of(tuned.ended):
        entrants = shape["entrants"]
        assert isinstance(entrants, list)
        ends = {entrant["kernel"]: entrant for entrant in entrants}  # pyright: ignore[reportUnknownVariableType]
        assert ends["wrong"]["outcome"] == "refused"
        assert "reference" in str(ends["wrong"]["reason"])  # pyright: ignore[reportUnknownArgumentType]
        assert ends["raises"]["outcome"] == "skipped"
        winner = shape["winner"]
        assert isinstance(winner, dict)
        assert winner["kernel"] == "repeated"


def test_with_json_standard_output_holds_one_document_and_nothing_else(tuned: Tuned) -> None:
    assert "the target's own words" in tuned.ended.err
    assert "a program it started" in tuned.ended.err
    assert "shape 1 of 2: twice N=3000,T=float32" in tuned.ended.err
    assert set(tuned.ended.document) >= {"shapes", "failures", "profile", "session"}


@pytest.mark.spec("M35", "M17")
def test_a_second_run_measures_nothing_and_leaves_the_profile_as_it_is(tuned: Tuned) -> None:
    before = tuned.place.profiles()
    assert len(before) == 1
    again = tuned.place.run("tune", "mine.py")
    assert again.code == 0
    assert again.out.count("(kept)") == 2
    assert tuned.place.profiles() == before


def test_what_was_tuned_is_explained_recorded_and_shown_as_documents_too(tuned: Tuned) -> None:
    place = tuned.place
    document = place.run("explain", "mine.py", "N=3000,T=float32", "--json").document
    assert (document["op"], document["source"]) == ("twice", "profile")
    shown = place.run("records", COLUMNS="200").out
    assert "repeated[times=" in shown
    assert [line for line in shown.splitlines() if "N=3000, T=float32" in line], "in the order it was measured"
    assert "(unknown)" not in shown
    assert "contiguous" not in shown
    records = place.run("records", "--kind", "autotune", "--json").document["records"]
    assert isinstance(records, list)
    assert len(records) == 2  # pyright: ignore[reportUnknownArgumentType]


def test_calls_of_other_processes_are_counted(place: Place) -> None:
    call = "import numpy, mine; [mine.twice(numpy.ones(4, 'float32')) for _ in range(3)]"
    subprocess.run([sys.executable, "-c", call], cwd=place.folder, env=place.variables, check=True, capture_output=True)
    assert place.run("dispatch", "--json").document == {
        "counts": [{"target": "cpu", "op": "twice", "won": 3, "degraded": 0, "no_candidate": 0, "error": 0}]
    }


def test_a_plan_times_nothing_and_leaves_nothing(place: Place) -> None:
    ended = place.run("tune", "mine.py", "--plan", "--json")
    assert ended.code == 0
    planned = ended.document["plan"]
    assert isinstance(planned, list)
    first: dict[str, object] = planned[0]  # pyright: ignore[reportUnknownVariableType]
    assert (first["shape"], first["default"]) == ("N=3000,T=float32", "repeated[times=20]")
    assert not (place.folder / "profiles").exists()
    assert not (place.folder / "store").exists()


def test_a_piped_run_says_a_few_lines_for_each_shape_and_what_was_refused(place: Place) -> None:
    lines = place.run("tune", "mine.py").out.splitlines()
    own = lines.index("shape 1 of 2: twice N=3000,T=float32")
    table = next(place for place, line in enumerate(lines) if line.startswith("op "))
    said = [line for line in lines[own:table] if not line.startswith(("  wrong: ", "  raises: "))]
    assert len(said) <= 2 * 4
    assert all(len(line) <= 100 for line in lines[table:])
    refused = lines.index("refused or failed")
    assert "op      shape" in lines[refused + 1]
    assert sum("wrong" in line and "1 of 1" in line for line in lines[refused:]) == 2


def test_a_shape_that_fails_is_named_and_the_others_go_on(place: Place) -> None:
    arguments = ("tune", "mine.py", "--shape", "T=float32", "--shape", "N=64,T=float32")
    ended = place.run(*arguments, "--json")
    assert ended.code == 0
    assert [shape["shape"] for shape in shapes_of(ended)] == [{"N": 64, "T": "float32"}]
    failures = ended.document["failures"]
    assert isinstance(failures, list)
    assert [failure["shape"] for failure in failures] == [{"T": "float32"}]  # pyright: ignore[reportUnknownVariableType]
    shown = place.run(*arguments)
    assert shown.code == 0
    table = shown.out[shown.out.index("\nop ") :]
    assert 0 < table.index("failed") < table.index("N=64, "), "in the order the shapes were given"


def test_a_damaged_profile_is_wrong_use_and_stays_as_it_is(tuned: Tuned, tmp_path: Path) -> None:
    place = make_place(tmp_path)
    (name,) = tuned.place.profiles()
    damaged = place.folder / "profiles" / name
    damaged.parent.mkdir()
    damaged.write_text('{"assay": 1, "device"')
    ended = place.run("tune", "mine.py")
    assert ended.code == 2
    assert name in ended.complaint
    assert damaged.read_text() == '{"assay": 1, "device"'


def test_a_damaged_store_is_wrong_use_stays_as_it_is_and_makes_the_doctor_say_no(place: Place) -> None:
    store = place.folder / "store/default.db"
    store.parent.mkdir()
    store.write_bytes(b"no database at all" * 300)
    ended = place.run("tune", "mine.py")
    assert ended.code == 2
    assert "default.db" in ended.complaint
    unfit = place.run("doctor", "--json")
    assert unfit.code == 1
    assert unfit.document["fit"] is False
    assert "default.db" in str(unfit.document["reasons"])
    assert "unfit: " in unfit.err
    assert store.read_bytes() == b"no database at all" * 300


def test_the_doctor_says_what_it_found_and_its_code_agrees(place: Place) -> None:
    ended = place.run("doctor", "--json")
    document = ended.document
    assert document["device"] == "cpu"
    assert document["frontends"]
    assert ended.code == (0 if document["fit"] else 1)
    assert not (place.folder / "store").exists()


@pytest.mark.spec("M35", "M39", "X10")
def test_an_interrupt_leaves_the_old_profile_whole_keeps_what_was_decided_and_no_process(place: Place) -> None:
    assert place.run("tune", "mine.py", "--shape", "N=77,T=float32").code == 0
    before = place.profiles()
    with (place.folder / "mine.py").open("a") as file:
        file.write(
            dedent("""
            @twice.kernel(serves="N == 500")
            def endless(x, *, y):
                while True:
                    pass
            """)
        )
    running = place.start("tune", "mine.py", "--shape", "N=78,T=float32", "--shape", "N=500,T=float32")
    assert running.stdout is not None
    lines: list[str] = []
    for line in running.stdout:  # a line is read while the command still runs: it was flushed
        lines.append(line)
        if line.startswith("shape 2 of 2") or "N=78,T=float32: " in line:
            break
    assert running.poll() is None
    assert any(line.startswith("shape 1 of 2: twice N=78,T=float32") for line in lines)
    os.kill(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, (lines, out, err)
    assert "assay: interrupted: what was decided is kept" in err
    assert place.profiles() == before
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
    kept = place.run("records", "--json").document["records"]
    assert isinstance(kept, list)
    assert len(kept) == 2  # pyright: ignore[reportUnknownArgumentType]


def test_from_python_the_first_failure_is_raised_after_the_other_shapes_are_kept(place: Place) -> None:
    call = "import assay, mine; assay.tune(mine.twice, [{'T': 'float32'}, {'N': 9, 'T': 'float32'}])"
    done = subprocess.run(
        [sys.executable, "-c", call],
        cwd=place.folder,
        env=place.variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1
    assert "CallError: twice: " in done.stderr
    (profile,) = place.profiles().values()
    assert b'"when": {"N": 9, "T": "float32"}' in profile
