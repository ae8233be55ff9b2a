"""Building C kernels, with the compiler this machine has: identities, the cache, and what goes wrong."""

import multiprocessing
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle  # pyright: ignore[reportMissingTypeStubs]
import msgspec
import numpy as np
import pytest
from c_product import GEMM_C, gemm, kernel, libraries, run

from assay.errors import BuildError
from assay.kernel import CKernel, Place
from assay.kernel.c_compiler import find_compiler
from assay.signature import describe, parse

_PICKLER: Any = cloudpickle

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "kernels")


@pytest.mark.spec("M14")
def test_what_does_not_compile_carries_the_compilers_message(place: Place, tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("void gemm(void) {\n    int x = undeclared_thing;\n}\n")
    found = kernel(tmp_path / "broken.c")
    with pytest.raises(BuildError) as caught:
        found.build(found.default, gemm(), place)
    said = str(caught.value)
    assert said.startswith("tiled[TILE=8]: does not compile: ")
    assert "broken.c:2:13: error:" in said
    assert "undeclared_thing" in said
    assert list(place.folder.iterdir()) == []


@pytest.mark.spec("M14")
def test_a_function_that_is_not_there_is_named(place: Place) -> None:
    found = kernel(GEMM_C.replace("void gemm", "static void gemm"))
    with pytest.raises(BuildError, match=r"the C text has no function gemm; is it static\?"):
        found.build(found.default, gemm(), place)


def test_a_symbol_nobody_has_is_said_when_the_kernel_is_built_and_not_when_it_runs(place: Place) -> None:
    found = kernel("void other(void); void gemm(void) { other(); }")
    with pytest.raises(BuildError, match=r"compiles and does not load: .*other"):
        found.build(found.default, gemm(), place)


def test_a_dtype_c_has_no_type_for_is_a_failed_build(place: Place) -> None:
    found, call = kernel(), gemm()
    strange = {**call.views, "a": msgspec.structs.replace(call.views["a"], dtype="bfloat16")}
    with pytest.raises(BuildError, match="C has no type for bfloat16, the dtype of a"):
        found.build(found.default, replace(call, views=strange), place)


def test_without_a_compiler_the_error_says_how_to_get_one(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = kernel()
    identity = found.identity(found.default, gemm(), place)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"no C compiler: none of cc, gcc, clang is on the path; install one"):
        found.build(found.default, gemm(), place)
    assert found.identity(found.default, gemm(), place) != identity


@pytest.mark.spec("M16")
def test_a_changed_helper_header_is_another_build_and_a_touched_one_is_not(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "deep.h").write_text("#define FACTOR 2\n")
    (folder / "tile.h").write_text('#include "deep.h"\n')
    source = folder / "scale.c"
    source.write_text('#include "tile.h"\nvoid scale(const float *x, float *y) { y[0] = FACTOR * x[0]; }\n')
    signature = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    found = CKernel("scale", source, "scale", args=["x", "y"]).for_signature(signature)
    call = describe(signature, "scale", {"N": 1})
    x, y = np.ones(1, np.float32), np.zeros(1, np.float32)

    def result() -> tuple[str, float]:
        program = found.build(found.default, call, place)
        program.launcher(call)(x, y)
        return program.identity, float(y[0])

    first = result()
    assert first[1] == 2
    for file in (source, folder / "tile.h", folder / "deep.h"):
        os.utime(file, (1, 1))
    assert result() == first
    assert len(libraries(place)) == 1
    (folder / "deep.h").write_text("#define FACTOR 3\n")
    second = result()
    assert second[1] == 3
    assert second[0] != first[0]
    # A header that was not read before is followed once something reads it.
    (folder / "tile.h").write_text('#include "other.h"\n')
    (folder / "other.h").write_text("#define FACTOR 4\n")
    assert result()[1] == 4
    (folder / "other.h").write_text("#define FACTOR 5\n")
    assert result()[1] == 5
    (folder / "tile.h").write_text('#include "deep.h"\n')
    (folder / "deep.h").write_text("#define FACTOR 2\n")
    assert result() == first
    assert len(libraries(place)) == 4


@pytest.mark.spec("M16", "R5")
def test_the_build_identity_follows_everything_the_code_does(place: Place) -> None:
    variants: list[CKernel] = [
        kernel(),
        kernel(GEMM_C.replace("sum = 0", "sum = -0")),
        kernel(flags=["-O1"]),
        kernel(flags=["-O2", "-march=native"]),
        kernel(libraries=["m"]),
        kernel(args=["a", "b", "c", "N", "M", "K"]),
        kernel(tunables={"TILE": [16, 8]}),
        kernel(returns="status"),
        kernel(args=["a", "b", "c", "M", "N", "K", "workspace"], workspace="M"),
    ]
    assert len({one.identity(one.default, gemm(), place) for one in variants}) == len(variants)
    same = kernel()
    assert same.identity(same.default, gemm(), place) == variants[0].identity(variants[0].default, gemm(), place)


@pytest.mark.spec("M16")
def test_native_flags_are_resolved_to_this_processor() -> None:
    compiler = find_compiler()
    assert compiler is not None
    asked, resolved = "-march=native", compiler.resolved(["-march=native"])
    plain = compiler.resolved([])
    # What the compiler proper is run with: another processor, other features, another command.
    ran = [line for line in resolved.splitlines() if "/dev/null" in line and asked not in line]
    assert ran
    assert ran[-1] not in plain


@pytest.mark.spec("M16")
def test_another_version_of_the_compiler_is_another_build(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = _real_compiler()
    tool = tmp_path / "cc"

    def install(version: str) -> None:
        tool.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "cc {version}"; else exec {real} "$@"; fi\n')
        tool.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = kernel()
    identities: list[str] = []
    for turn, version in enumerate(("12.1", "12.2", "12.1")):
        install(version)
        os.utime(tool, (turn + 1, turn + 1))
        identities.append(found.build(found.default, gemm(), place).identity)
    assert identities[0] != identities[1]
    assert identities[0] == identities[2]
    assert len(libraries(place)) == 2


def test_a_second_build_compiles_nothing(place: Place) -> None:
    found = kernel()
    found.build(found.default, gemm(), place)
    (kept,) = libraries(place)
    before = kept.stat()
    found.build(found.default, gemm(9, 9, 9), place)
    kernel().build(found.default, gemm(), place)
    assert libraries(place) == [kept]
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("damage", ["cut short", "emptied", "changed", "seal lost", "seal of another"])
def test_a_damaged_library_is_built_again_and_never_loaded(place: Place, damage: str) -> None:
    found = kernel()
    found.build(found.default, gemm(), place)
    (kept,) = libraries(place)
    whole, seal = kept.read_bytes(), kept.with_suffix(".sha256")
    match damage:
        case "cut short":
            kept.unlink()
            kept.write_bytes(whole[: len(whole) // 2])
        case "emptied":
            kept.unlink()
            kept.touch()
        case "changed":
            kept.unlink()
            kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        case "seal lost":
            seal.unlink()
        case _:
            seal.write_text("0" * 64)
    a, b, c = np.ones((3, 5), np.float32), np.ones((5, 4), np.float32), np.zeros((3, 4), np.float32)
    run(found, place, gemm(), a, b, c)
    assert (c == 5).all()
    assert kept.read_bytes() == whole
    assert sorted(file.suffix for file in place.folder.iterdir()) == [".sha256", ".so"]


def test_the_cache_is_its_owners_alone(place: Place) -> None:
    found = kernel()
    found.build(found.default, gemm(), place)
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in place.folder.iterdir()} == {0o600}


def test_a_cache_that_cannot_be_written_costs_only_the_keeping(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = Place(tmp_path / "file" / "kernels")
    a, b, c = np.ones((3, 5), np.float32), np.ones((5, 4), np.float32), np.zeros((3, 4), np.float32)
    run(kernel(), place, gemm(), a, b, c)
    assert (c == 5).all()


def test_a_source_edited_while_it_is_compiled_is_kept_under_what_was_compiled(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, edit = tmp_path / "value.c", tmp_path / "edit.c"
    text = "void value(const float *x, float *y) { y[0] = {}; (void)x; }"
    # A compiler beside which somebody saves the file: the edit is in place once the library is.
    save = f"case \"$*\" in *-shared*) if [ -e '{edit}' ]; then mv '{edit}' '{source}'; fi;; esac"
    tool = tmp_path / "cc"
    tool.write_text(f'#!/bin/sh\n{_real_compiler()} "$@" || exit 1\n{save}\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    source.write_text(text.replace("{}", "1"))
    edit.write_text(text.replace("{}", "2"))
    signature = parse("forall N: Dim. (x: float32[N]) -> (y: float32[N])")
    found = CKernel("value", source, "value", args=["x", "y"]).for_signature(signature)
    call = describe(signature, "value", {"N": 1})
    y = np.zeros(1, np.float32)
    program = found.build(found.default, call, place)
    assert not edit.exists()
    program.launcher(call)(y, y)
    assert y[0] == 2
    assert program.identity == found.identity(found.default, call, place)
    source.write_text(text.replace("{}", "1"))
    run(found, place, call, y, y)
    assert y[0] == 1


def _real_compiler() -> str:
    found = find_compiler()
    assert found is not None
    return found.path


def _build(found: bytes, folder: Path, barrier: Any, answers: Any) -> None:  # noqa: ANN401
    call = gemm()
    own: CKernel = _PICKLER.loads(found)
    a, b, c = np.ones((3, 5), np.float32), np.ones((5, 4), np.float32), np.zeros((3, 4), np.float32)
    barrier.wait()
    program = own.build(own.default, call, Place(folder))
    program.launcher(call)(a, b, c)
    answers.put((program.identity, float(c[0, 0])))


def test_processes_that_build_at_once_all_get_the_kernel(place: Place) -> None:
    found = kernel()
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(3), context.Queue()
    processes = [
        context.Process(target=_build, args=(_PICKLER.dumps(found), place.folder, barrier, answers)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    got = [answers.get(timeout=50) for _ in processes]
    for process in processes:
        process.join()
    assert got == [(found.identity(found.default, gemm(), place), 5.0)] * 3
    assert sorted(file.suffix for file in place.folder.iterdir()) == [".sha256", ".so"]
