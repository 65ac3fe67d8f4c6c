"""`mrag train`: a concept learner or a language model is trained on a graph before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mrag import cel, generative
from mrag.cli.shared import stopping
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.options import JsonOption, KgOption, SeedOption, StoreOption, opened
from mrag.cli.shared.output import progress, say, show, show_json, status
from mrag.errors import ConfigError

app = Commands(
    help="Train a concept learner, or a model that generates clues.",
    epilog="Example: mrag train drill --out family.npz --store oxigraph:./family",
)


@app.command()
def drill(
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File of the policy; an existing one is trained further."
        ),
    ] = Path("policy.npz"),
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit.")] = 60.0,
    episodes: Annotated[int, typer.Option(min=1, help="Maximum number of episodes.")] = 200,
    seed: SeedOption = 0,
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a policy for the concept learner drill.

    Ctrl-C keeps what was learnt.

    \b
    Examples:
      mrag train drill --out family.npz --store oxigraph:./family
      mrag learn fit --learner drill --policy family.npz -p ex:anna -n ex:bob --store oxigraph:./family
    """

    def kept() -> str:
        if not out.exists():
            return "Nothing was learnt yet. Run the same command again."
        return f"{out} holds what was learnt until its last save; run the same command again to resume."

    with stopping.kept(kept), opened(store, kg) as graph:
        before = cel.Policy.load(out, graph) if out.exists() else None
        had = before.episodes if before is not None else 0
        if before is not None:
            say(f"{out} is trained further; it has seen {had} episodes.")
        with progress("Training", unit="episodes") as note:
            policy = cel.train_policy(
                graph,
                cel.PolicyTrainingSettings(episodes=episodes, seconds=seconds, seed=seed),
                policy=before,
                on_progress=lambda p: note(p.episodes - had, episodes),
            )
        policy.save(out)
    if stopping.heard():
        done = f"{out} holds the policy after {policy.episodes} episodes"
        raise typer.Exit(stopping.told(f"{done}; run the same command again to train it further."))
    if as_json:
        show_json({"policy": str(out), "episodes": policy.episodes, "solved": list(policy.history)})
    else:
        show(f"{out}: {policy.episodes} episodes.")


@app.command("generative")
def generative_(
    questions: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="JSON lines with `question` and `document`, the IRI that answers it."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="local:PATH.gguf, or hf:FOLDER_OR_NAME (transformers).",
            envvar="MRAG_CLUE_MODEL",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder of the adapter; an existing one is trained further."
        ),
    ] = Path("clues"),
    epochs: Annotated[int, typer.Option(min=1, help="Passes over all pairs.")] = 3,
    batch: Annotated[int, typer.Option(min=1, help="Pairs in a step.")] = 8,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 3e-4,
    rank: Annotated[int, typer.Option(min=1, help="Rank of the adapter (LoRA).")] = 8,
    clues: Annotated[int, typer.Option(min=1, help="Maximum number of clues drawn for a question.")] = 2,
    length: Annotated[int, typer.Option(min=1, help="Tokens of a clue.")] = 10,
    temperature: Annotated[
        float, typer.Option(help="Below 1, clues with many keywords are preferred.")
    ] = 1.0,
    seed: SeedOption = 0,
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a language model to generate clues.

    Ctrl-C keeps what was learnt.

    \b
    Examples:
      mrag train generative --questions asked.jsonl --model local:model.gguf --out clues
      mrag clues search "Who develops GraphDB?" --model local:clues/model.gguf
    """
    from mrag.generative.documents import clue_texts

    sampling = generative.ClueSampling(starts=clues, length=length, temperature=temperature, seed=seed)
    knobs = generative.TrainingSettings(epochs=epochs, batch=batch, rate=rate, seed=seed)
    asked = generative.read_questions(questions)
    if any(one.picture is not None for one in asked):
        raise ConfigError(
            "The command line cannot train on questions with pictures; Python can.",
            hint="See mrag.generative.prefix.PrefixLearner.",
        )
    with status("Opening the model"):
        backbone = generative.open_backbone(model)
    with opened(store, kg) as graph:
        wanted = {one.document for one in asked}
        documents = {
            iri: generative.document_tokens(backbone.tokeniser, text)
            for iri, text in clue_texts(graph)
            if iri in wanted
        }
    pairs = generative.make_pairs(asked, documents, backbone.tokeniser, sampling)
    learner = generative.LoraLearner(backbone.model, generative.LoraSettings(rank=rank), seed=seed)
    with progress("Training", unit="steps") as note:
        outcome = generative.train(
            learner, pairs, out, knobs, on_step=lambda done, total, loss: note(done, total)
        )
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
            found["model"] = f"local:{generative.write_gguf(backbone.gguf, out, out / 'model.gguf')}"
        else:
            found["model"] = f"hf:{generative.write_folder(learner.model, backbone.own, out / 'model')}"
    if as_json:
        show_json(found)
        return
    steps = f"{outcome.steps} of {outcome.total} steps on {len(pairs)} pairs"
    show(f"{out}: {steps}, loss {outcome.losses[-1]:.3f}")
    show(f"{found['model']}: the trained model, for `mrag clues`")
    if outcome.interrupted:
        raise typer.Exit(stopping.told("What was learnt is kept; run the same command again to resume."))
