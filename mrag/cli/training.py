"""The command that trains what learns from a graph before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mrag.cli.common import JsonOption, KgOption, StoreOption, opened, progress, say, show, show_json

WHAT = ("drill",)


def train(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="What to train: drill.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The policy; one that is there is trained on.")
    ] = Path("policy.npz"),
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit.")] = 60.0,
    episodes: Annotated[int, typer.Option(min=1, help="Most episodes.")] = 200,
    seed: Annotated[int, typer.Option(help="Of random choices.")] = 0,
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a learner of concepts on problems generated from the graph. Ctrl-C keeps what was learnt.

    \b
    Examples:
      mrag train drill --out family.npz --store oxigraph:./family
      mrag learn --learner drill --policy family.npz -p ex:anna -n ex:bob --store oxigraph:./family
    """
    from mrag.errors import ConfigError

    if what not in WHAT:
        raise ConfigError(f"Nothing called {what!r} is trained.", hint=f"There is: {', '.join(WHAT)}.")
    from mrag.cel.policy import Policy
    from mrag.cel.training import TrainSettings
    from mrag.cel.training import train as run

    with opened(store, kg) as graph:
        before = Policy.load(out, graph) if out.exists() else None
        had = before.episodes if before is not None else 0
        if before is not None:
            say(f"{out} is trained further; it has seen {had} episodes.")
        with progress("Training", unit="episodes") as note:
            policy = run(
                graph,
                TrainSettings(episodes=episodes, seconds=seconds, seed=seed),
                policy=before,
                on_progress=lambda p: note(p.episodes - had, episodes),
            )
        policy.save(out)
    if as_json:
        show_json({"policy": str(out), "episodes": policy.episodes, "solved": list(policy.history)})
    else:
        show(f"{out}: {policy.episodes} episodes.")
