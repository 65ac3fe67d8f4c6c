"""Two hosts of two processes each behind nginx or HAProxy, over one Oxigraph server and one PostgreSQL.

    python benchmarks/two_hosts.py
    python benchmarks/two_hosts.py --balancer haproxy

A third host, the only one with `--update`, writes. While clients ask questions and send queries, a process is
killed, and a host is told to stop and started again. It prints what the clients saw, whether what one host
writes is seen by the others, and what the metrics, the logs and the spans of all of them tell. It needs nginx
or HAProxy, the packages oxigraph and pgserver, and the extras server, otel and pgvector.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from common import percentile
from index_backends import postgres

import mrag

DATA = Path(__file__).parents[1] / "ontology" / "products.ttl"
QUERY = "SELECT (COUNT(*) AS ?n) { ?s a ?c }"
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f FILTER(STRLEN(STR(?c)) > STRLEN(STR(?f))) }"
QUESTION = "How many triple stores are there?"
NGINX = """daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.err;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream servers {{
    zone servers 64k;
    {servers}
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://servers;
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Request-ID $request_id;
      proxy_read_timeout 120s; proxy_buffering off; proxy_next_upstream error timeout http_503 non_idempotent;
    }}
  }}
}}
"""

HAPROXY = """global
  maxconn 500
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  timeout check 10s
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response response-timeout 503
  default-server inter 500ms fall 2 rise 1
frontend all
  bind 127.0.0.1:{port}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /ready
  http-check send hdr Host 127.0.0.1
{servers}
"""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def running(command: list[str], log: Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, **options)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def answering(url: str, seconds: float = 120) -> None:
    """Wait until an address answers."""
    until = time.monotonic() + seconds
    while True:
        try:
            if httpx.get(url, timeout=10).status_code < 500:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > until:
            raise SystemExit(f"{url} does not answer")
        time.sleep(0.2)


class Collector(BaseHTTPRequestHandler):
    """Takes spans as OpenTelemetry's HTTP exporter sends them."""

    spans: list[Any]

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Take some spans."""
        import gzip

        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        body = self.rfile.read(int(self.headers["content-length"]))
        body = gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Clients:
    """Clients that send requests without pause, each by connections of its own."""

    def __init__(self, base: str, number: int) -> None:
        self.base = base
        self.seen: Counter[str] = Counter()
        self.seconds: list[float] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(n,)) for n in range(number)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        turn = number
        with httpx.Client(base_url=self.base, timeout=60) as client:
            while not self._stop.is_set():
                turn += 1
                began = time.perf_counter()
                kind, ask = self._request(client, turn)
                try:
                    reply = ask()
                    right = reply.status_code != 200 or self._is_right(kind, reply)
                    what = str(reply.status_code) if right else "wrong"
                except httpx.HTTPError as error:
                    what = type(error).__name__
                self.seconds.append(time.perf_counter() - began)
                self.seen[f"{kind} {what}"] += 1

    def _request(self, client: httpx.Client, turn: int) -> tuple[str, Callable[[], httpx.Response]]:
        if turn % 4 == 0:
            return "ask", lambda: client.post("/api/ask", json={"question": QUESTION})
        if turn % 4 == 1:
            return "post", lambda: client.post("/sparql", data={"query": QUERY})
        return "get", lambda: client.get("/sparql", params={"query": QUERY})

    @staticmethod
    def _is_right(kind: str, reply: httpx.Response) -> bool:
        return ('"way":"plan"' in reply.text.replace(" ", "")) if kind == "ask" else '"n"' in reply.text


class Hosts:
    """Two hosts, and the balancer."""

    def __init__(
        self, stack: ExitStack, folder: Path, environment: dict[str, str], seconds: float, balancer: str
    ) -> None:
        self._stack, self._folder, self._environment = stack, folder, environment
        self.ports = [free_port() for _ in range(3)]
        self.seconds = seconds
        self.processes = [self.start(at) for at in range(3)]
        port = free_port()
        served, config = self.ports[:2], folder / "balancer.conf"
        if balancer == "nginx":
            servers = " ".join(f"server 127.0.0.1:{p} max_fails=1 fail_timeout=2s;" for p in served)
            config.write_text(NGINX.format(folder=folder, servers=servers, port=port))
        else:
            servers = "\n".join(f"  server s{p} 127.0.0.1:{p} check" for p in served)
            config.write_text(HAPROXY.format(servers=servers, port=port))
        program = shutil.which(balancer, path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            raise SystemExit(f"needs {balancer}")
        command = [program, "-c" if balancer == "nginx" else "-f", str(config)]
        stack.enter_context(running(command, folder / "balancer.log"))
        self.base = f"http://127.0.0.1:{port}"
        for address in (*self.addresses, self.base):
            answering(f"{address}/ready")

    @property
    def addresses(self) -> list[str]:
        """The addresses of the hosts themselves."""
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def start(self, at: int) -> subprocess.Popen[bytes]:
        """Start a host."""
        command = [sys.executable, "-m", "mrag", "serve", "--log-requests"]
        command += ["--port", str(self.ports[at]), "--model", "none", "--grace", "25"]
        command += ["--update"] if at == 2 else []
        environment = self._environment | {"OTEL_SERVICE_NAME": f"host-{at}"}
        return self._stack.enter_context(running(command, self._folder / f"host-{at}.log", env=environment))

def told(name: str, **values: Any) -> None:
    """Print what was found."""
    print(json.dumps({"step": name, **values}), flush=True)


def under_load(hosts: Hosts, name: str, clients: int, what: Callable[[], dict[str, Any]]) -> None:
    """Do something while clients are at work, and print what they saw."""
    with Clients(hosts.base, clients) as load:
        time.sleep(hosts.seconds / 3)
        found = what()
        time.sleep(hosts.seconds * 2 / 3)
    ms = [1000 * s for s in load.seconds]
    told(
        name,
        seen=dict(sorted(load.seen.items())),
        p50_ms=round(percentile(ms, 50)),
        p99_ms=round(percentile(ms, 99)),
        **found,
    )


def stop_one(hosts: Hosts) -> dict[str, Any]:
    """Tell the second host to stop with a slow query in flight, and start it again."""
    slow: list[Any] = []

    def ask() -> None:
        try:
            slow.append(
                httpx.get(f"{hosts.addresses[1]}/sparql", params={"query": SLOW}, timeout=60).status_code
            )
        except httpx.HTTPError as error:
            slow.append(type(error).__name__)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    hosts.processes[1].terminate()
    code = hosts.processes[1].wait(60)
    seconds = time.monotonic() - began
    thread.join()
    hosts.processes[1] = hosts.start(1)
    return {"code": code, "stopped_after_s": round(seconds, 2), "slow_query": slow[0]}


def write_and_read(hosts: Hosts, rounds: int = 20) -> None:
    """Write by the third host, and read by the second at once."""
    _, two, one = hosts.addresses
    stale, asked = 0, 0
    count = "SELECT (COUNT(*) AS ?n) { ?s a <https://w3id.org/mrag/demo/products#TripleStore> }"

    def number(address: str) -> int:
        reply = httpx.get(f"{address}/sparql", params={"query": count}, timeout=60)
        return int(reply.raise_for_status().json()["results"]["bindings"][0]["n"]["value"])

    def answer(address: str) -> str:
        return httpx.post(f"{address}/api/ask", json={"question": QUESTION}, timeout=60).text

    before, first = number(two), answer(two)
    for turn in range(rounds):
        text = f"INSERT DATA {{ <urn:new:{turn}> a <https://w3id.org/mrag/demo/products#TripleStore> }}"
        httpx.post(f"{one}/sparql", data={"update": text}, timeout=60).raise_for_status()
        stale += number(two) != before + turn + 1
        asked += str(before + turn + 1) not in re.findall(r"\d+", answer(two))
    for turn in range(rounds):
        text = f"DELETE DATA {{ <urn:new:{turn}> a <https://w3id.org/mrag/demo/products#TripleStore> }}"
        httpx.post(f"{one}/sparql", data={"update": text}, timeout=60).raise_for_status()
    told("written by one host, read by the other", rounds=rounds, stale_queries=stale, stale_answers=asked,
         as_before=answer(two) == first)  # fmt: skip


def metrics(hosts: Hosts) -> None:
    """Print what the metrics of each host tell, which must not depend on the process that answers."""
    names = (
        "mrag_answer_seconds_count", "mrag_errors_total", "mrag_workers_killed_total", "mrag_index_stale",
        "mrag_index_revisions_behind", "mrag_index_documents", "mrag_graph_revision", "mrag_processes",
        "mrag_index_age",
    )  # fmt: skip
    for at, address in enumerate(hosts.addresses):
        httpx.get(f"{address}/sparql", params={"query": "SELECT * { SERVICE <http://x/> {} }"})
        found = [
            sorted(
                line
                for line in httpx.get(f"{address}/metrics", timeout=60).text.splitlines()
                if line.startswith(names)
            )
            for _ in range(6)
        ]
        told(f"metrics of host {at}", metrics=found[-1], same=all(one == found[-1] for one in found))


def logs(hosts: Hosts, folder: Path, spans: list[Any]) -> None:
    """Print whether a request is found by its identifier in the logs, and by its trace among the spans."""
    trace = "0af7651916cd43dd8448eb211c80319c"
    given = {"traceparent": f"00-{trace}-b7ad6b7169203331-01", "X-Request-ID": "sent-by-the-client"}
    reply = httpx.post(f"{hosts.base}/api/ask", json={"question": QUESTION}, headers=given, timeout=60)
    time.sleep(7)  # spans are sent every five seconds
    name = reply.headers["x-request-id"]
    lines = [
        json.loads(line)
        for at in range(3)
        for line in (folder / f"host-{at}.log").read_text().splitlines()
        if line.startswith("{")
    ]
    ours = Counter(s.name for s in spans if s.trace_id.hex() == trace)
    told("logs and spans", id=name, logged=[one for one in lines if one["id"] == name], lines=len(lines),
         ids=len({one["id"] for one in lines}), spans=dict(ours))  # fmt: skip
    for at in range(3):
        rest = [x for x in (folder / f"host-{at}.log").read_text().splitlines() if x[:1] not in ("{", "")]
        told(f"what host {at} said", lines=rest[-12:])


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--balancer", choices=("nginx", "haproxy"), default="nginx")
    parser.add_argument("--seconds", type=float, default=15)
    args = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        program = shutil.which("oxigraph") or str(Path(sys.executable).with_name("oxigraph"))
        stack.enter_context(
            running(
                [program, "serve", "-l", str(folder / "data"), "-b", f"127.0.0.1:{port}"],
                folder / "store.log",
            )
        )
        base = f"http://127.0.0.1:{port}"
        answering(f"{base}/query?query=ASK%20%7B%7D")
        store = f"sparql:{base}/query?update={base}/update&graphs={base}/store"
        handler = type("Handler", (Collector,), {"spans": []})
        collector = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        environment = os.environ | {
            "MRAG_STORE": store,
            "MRAG_INDEX": stack.enter_context(postgres()),
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_address[1]}",
        }
        os.environ.update(environment)
        with mrag.connect(store) as kg:
            kg.load([DATA])
            mrag.SimilarityIndexes.of(kg).build(model="wordllama")
        hosts = Hosts(stack, folder, environment, args.seconds, args.balancer)
        under_load(hosts, "no fault", args.clients, dict)
        under_load(hosts, "SIGTERM to a host", args.clients, lambda: stop_one(hosts))
        answering(f"{hosts.addresses[1]}/ready")
        write_and_read(hosts)
        time.sleep(hosts.seconds)  # the index follows two seconds after the last change
        metrics(hosts)
        logs(hosts, folder, handler.spans)


if __name__ == "__main__":
    main()
