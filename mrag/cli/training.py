"""The command that trains what learns from a graph before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mrag.cli import stopping
from mrag.cli.common import JsonOption, KgOption, StoreOption, opened, progress, say, show, show_json, status

if TYPE_CHECKING:
    from mrag.generative.training.run import TrainingSettings
    from mrag.generative.training.sampling import ClueSampling

WHAT = ("drill", "generative")


def train(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="What to train: drill or generative.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            help="The policy's file (policy.npz) or the adapter's folder (clues); one that is there is "
            "trained on.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit of drill.")] = 60.0,
    episodes: Annotated[int, typer.Option(min=1, help="Most episodes of drill.")] = 200,
    seed: Annotated[int, typer.Option(help="Of random choices.")] = 0,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="generative: JSON lines with `question` and `document`, the IRI that answers it.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="generative: local:PATH.gguf, or hf:FOLDER_OR_NAME (transformers).",
            envvar="MRAG_CLUE_MODEL",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="generative: how often all pairs are shown.")] = 3,
    batch: Annotated[int, typer.Option(min=1, help="generative: pairs of a step.")] = 8,
    rate: Annotated[float, typer.Option(help="generative: learning rate.")] = 3e-4,
    rank: Annotated[int, typer.Option(min=1, help="generative: rank of the adapter.")] = 8,
    clues: Annotated[int, typer.Option(min=1, help="generative: most clues drawn for a question.")] = 2,
    length: Annotated[int, typer.Option(min=1, help="generative: tokens of a clue.")] = 10,
    temperature: Annotated[
        float,
        typer.Option(help="generative: below 1 prefers clues with many keywords."),
    ] = 1.0,
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a learner of concepts, or a language model to write clues. Ctrl-C keeps what was learnt.

    \b
    Examples:
      mrag train drill --out family.npz --store oxigraph:./family
      mrag learn --learner drill --policy family.npz -p ex:anna -n ex:bob --store oxigraph:./family
      mrag train generative --questions asked.jsonl --model local:model.gguf --out clues
      mrag clues search "Who develops GraphDB?" --model local:clues/model.gguf
    """
    from mrag.errors import ConfigError

    if what not in WHAT:
        raise ConfigError(f"Nothing called {what!r} is trained.", hint=f"There are: {', '.join(WHAT)}.")
    if what == "drill":
        _drill(out or Path("policy.npz"), seconds, episodes, seed, store, kg, as_json)
        return
    if questions is None or model is None:
        raise ConfigError("A model learns from questions.", hint="Give --questions FILE and --model NAME.")
    from mrag.generative.training.run import TrainingSettings
    from mrag.generative.training.sampling import ClueSampling

    sampling = ClueSampling(starts=clues, length=length, temperature=temperature, seed=seed)
    knobs = TrainingSettings(epochs=epochs, batch=batch, rate=rate, seed=seed)
    _generative(out or Path("clues"), questions, model, rank, sampling, knobs, store, kg, as_json)


def _drill(
    out: Path,
    seconds: float,
    episodes: int,
    seed: int,
    store: str | None,
    kg: str | None,
    as_json: bool,
) -> None:
    from mrag.cel.drill.policy import Policy
    from mrag.cel.drill.training import TrainSettings
    from mrag.cel.drill.training import train as run

    def kept() -> str:
        if not out.exists():
            return "Nothing was learnt yet. Run the same command again."
        return f"{out} holds what was learnt until it was last written; the same command trains it further."

    with stopping.kept(kept), opened(store, kg) as graph:
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
    if stopping.heard():
        done = f"{out} holds the policy after {policy.episodes} episodes"
        raise typer.Exit(stopping.told(f"{done}; the same command trains it further."))
    if as_json:
        show_json({"policy": str(out), "episodes": policy.episodes, "solved": list(policy.history)})
    else:
        show(f"{out}: {policy.episodes} episodes.")


def _generative(
    out: Path,
    questions: Path,
    model: str,
    rank: int,
    sampling: ClueSampling,
    knobs: TrainingSettings,
    store: str | None,
    kg: str | None,
    as_json: bool,
) -> None:
    from mrag.errors import ConfigError
    from mrag.generative.index.documents import clue_texts
    from mrag.generative.models.tokens import document_tokens
    from mrag.generative.training.backbone import open_backbone
    from mrag.generative.training.data import make_pairs, read_questions
    from mrag.generative.training.export import write_folder, write_gguf
    from mrag.generative.training.lora import LoraLearner, LoraSettings
    from mrag.generative.training.run import train as run

    asked = read_questions(questions)
    if any(one.picture is not None for one in asked):
        raise ConfigError(
            "Questions with pictures are learnt from in Python alone.",
            hint="See mrag.generative.training.prefix.PrefixLearner.",
        )
    with status("Opening the model"):
        backbone = open_backbone(model)
    with opened(store, kg) as graph:
        wanted = {one.document for one in asked}
        documents = {
            iri: document_tokens(backbone.tokeniser, text) for iri, text in clue_texts(graph) if iri in wanted
        }
    pairs = make_pairs(asked, documents, backbone.tokeniser, sampling)
    learner = LoraLearner(backbone.model, LoraSettings(rank=rank), seed=knobs.seed)
    with progress("Training", unit="steps") as note:
        outcome = run(learner, pairs, out, knobs, on_step=lambda done, total, loss: note(done, total))
    found: dict[str, Any] = {
        "adapter": str(out),
        "pairs": len(pairs),
        "steps": outcome.steps,
        "of": outcome.total,
        "loss": outcome.losses[-1],
        "interrupted": outcome.interrupted,
        "seconds": round(outcome.seconds, 1),
    }
    with status("Writing the model"):
        if backbone.gguf is not None:
            found["model"] = f"local:{write_gguf(backbone.gguf, out, out / 'model.gguf')}"
        else:
            found["model"] = f"hf:{write_folder(learner.model, backbone.own, out / 'model')}"
    if as_json:
        show_json(found)
        return
    steps = f"{outcome.steps} of {outcome.total} steps on {len(pairs)} pairs"
    show(f"{out}: {steps}, loss {outcome.losses[-1]:.3f}")
    show(f"{found['model']}: the model with what it learnt, for `mrag clues`")
    if outcome.interrupted:
        raise typer.Exit(stopping.told("What was learnt is kept; the same command goes on from here."))
