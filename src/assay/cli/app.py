"""The commands and their options; each loads what it needs when it runs."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Chooses which compute kernel runs, and can prove why.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output, all else on standard error.")
]


def _show_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"assay {version('assay')}")
        raise typer.Exit


@app.callback()
def _assay(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def tune(  # noqa: PLR0913  one parameter for each option
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="What to tune: package.module, package.module:op, path/to/file.py, path/to/file.py:op, "
            "or the name of an op of assay.zoo.",
        ),
    ],
    *,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            help="A shape, as M=256,N=256,K=256,T=float32; may be given several times. "
            "Without it, those the ops declare."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="The device to tune for.")] = "cpu",
    profile: Annotated[
        Path | None, typer.Option(help="The folder of profiles, which must exist.", show_default="./profiles")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="The time the whole run may take, as 60s, 2m or 90.", show_default="no limit")
    ] = None,
    strategy: Annotated[str, typer.Option(help="How settings are searched.")] = "default",
    seed: Annotated[int, typer.Option(min=0, help="Where every random choice starts.")] = 0,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be tuned, and time nothing.")] = False,
    remeasure: Annotated[
        bool, typer.Option("--remeasure", help="Measure kept answers again and replace them.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Find the fastest right kernel and setting for each shape, and write the profile."""
    from assay.cli.tune import TuneOptions, run_tune

    return run_tune(
        TuneOptions(
            target=target,
            shapes=tuple(shape or ()),
            device=device,
            profile=profile,
            budget=budget,
            strategy=strategy,
            seed=seed,
            remeasure=remeasure,
        ),
        only_plan=plan,
        as_json=as_json,
    )


@app.command()
def explain(
    op: Annotated[
        str, typer.Argument(metavar="OP", help="An op, as package.module:op or the name of one of assay.zoo.")
    ],
    shape: Annotated[str, typer.Argument(metavar="SHAPE", help="A shape, as M=256,N=256,K=256,T=float32.")],
    *,
    as_json: AsJson = False,
) -> int:
    """Say which kernel runs a shape here, where that comes from, and why."""
    from assay.cli.explain import run_explain

    return run_explain(op, shape, as_json=as_json)


@app.command()
def records(
    kind: Annotated[str | None, typer.Option(help="Only records of this kind.", show_default="all")] = None,
    *,
    as_json: AsJson = False,
) -> int:
    """List what past tunes left beside their answers."""
    from assay.cli.kept import run_records

    return run_records(kind, as_json=as_json)


@app.command()
def dispatch(*, as_json: AsJson = False) -> int:
    """Count the calls of past processes: the compiled kernel won, degraded, or there was none."""
    from assay.cli.kept import run_dispatch

    return run_dispatch(as_json=as_json)


@app.command()
def doctor(*, as_json: AsJson = False) -> int:
    """Say how good this machine is for measuring; 1 when it is unfit."""
    from assay.cli.doctor import run_doctor

    return run_doctor(as_json=as_json)
