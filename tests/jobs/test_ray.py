"""Jobs on a real Ray cluster of two machines, one of which is lost. One cluster serves all of it."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from mrag.errors import ConfigError
from mrag.jobs import RayRunner
from tests.conftest import ROOT
from tests.images.conftest import E, turtle
from tests.images.seeing_server import SeeingServer

PROGRAM = """
import json
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

import mrag
from mrag.errors import ModelError
from mrag.images.enrichment import describe
from mrag.images.enrichment import EnrichSettings
from mrag.index import SimilarityIndexes
from mrag.jobs import RayRunner, carried
from tests.jobs.works import Slowly, square

bare = {"num_cpus": 1, "include_log_monitor": False}  # nobody reads what workers print
cluster = Cluster(True, head_node_args={**bare, "include_dashboard": False, "no_monitor": True})
second = cluster.add_node(**bare)
ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
told = {"lost": False}

runner = RayRunner(2)
done = {}
for number, value in carried(runner, Slowly(str(Path("begun").resolve()), 0.3), range(12)):
    assert number not in done
    done[number] = value
    if len(done) == 4:
        cluster.remove_node(second, allow_graceful=False)
        told["lost"] = True
told["numbers"] = [done[number] for number in sorted(done)]
told["begun"] = len(list(Path("begun").iterdir()))

try:
    list(carried(RayRunner(1), square, [-1]))
except ModelError as error:
    told["error"] = [error.message, error.hint]

Path("photos/black.png").write_bytes(b"broken")
told["described"] = []
for kind in (RayRunner(1, cores=0), None):
    with mrag.connect() as kg:
        kg.load(["g.ttl"])
        report = describe(kg, "ollama:llava", folder="photos", settings=EnrichSettings(), runner=kind)
        triples = sorted(map(str, (q for g in kg.record.asserted for q in kg.store.edges(g))))
        triples = [t for t in triples if "generatedAtTime" not in t]
        told["described"].append([report.described, report.kinds(), triples])

told["vectors"] = []
with mrag.connect("oxigraph:kg") as kg:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    Path("d.nt").write_text("\\n".join(f'<urn:d{n}> {label} "a coat {n}" .' for n in range(600)))
    kg.load(["d.nt"])
    indexes = SimilarityIndexes.of(kg)
    for kind in (RayRunner(), None):  # one machine is left
        indexes.build("main", model="wordllama", runner=kind)
        index = indexes.stored("main")
        found = index.vectors_of(index.doc_ids)
        told["vectors"].append({i: vector.tobytes().hex() for i, vector in found.items()})
        indexes.delete("main")

print(json.dumps(told))
"""


@pytest.mark.slow
def test_a_job_on_ray_comes_to_the_same_though_a_machine_is_lost(
    photos: Path, tmp_path: Path, seeing: SeeingServer
) -> None:
    if find_spec("ray") is None:
        with pytest.raises(ConfigError, match="Ray is not installed"):
            RayRunner()
        pytest.skip("Ray is not installed (pip install 'mrag[ray]')")
    # In a process of its own: Ray starts servers, and its warnings are not ours.
    (tmp_path / "g.ttl").write_text(turtle(), encoding="utf-8")
    (tmp_path / "begun").mkdir()
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {
        **os.environ,
        "RAY_raylet_start_wait_time_s": "120",  # thirty are too few on a busy machine
        "PYTHONPATH": path,
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_enable_worker_prestart": "0",
        "RAY_prestart_worker_first_driver": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert told["lost"] and told["numbers"] == [number * number for number in range(12)]
    assert told["begun"] >= 12
    assert told["error"] == ["-1 is negative.", "Give another."]
    ray, threads = told["described"]
    assert ray == threads
    assert ray[0] == 5 and ray[1] == {"picture": 1}
    assert sum(f"<{E}hasLLMDescription>" in triple for triple in ray[2]) == 5
    ours, inline = told["vectors"]
    assert ours == inline and len(inline) == 600
