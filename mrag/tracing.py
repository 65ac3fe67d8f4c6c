"""Spans of OpenTelemetry around the steps of an answer.

A program that traces has imported OpenTelemetry and set its provider up; until then nothing is imported and
nothing is measured. Attributes hold names and counts, never a question, a query's text or a value.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

from mrag.errors import ConfigError

_P = ParamSpec("_P")
_R = TypeVar("_R")
Attributes: TypeAlias = Mapping[str, str | int | float | bool]


def tracing() -> Any:
    """Return the module `opentelemetry.trace` if this program uses it, else None."""
    return sys.modules.get("opentelemetry.trace")


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    current: bool = True,
    carrier: Mapping[str, str] | None = None,
) -> Iterator[Callable[[Attributes], None]]:
    """Measure a step, and give what adds attributes to its span."""
    trace = tracing()
    if trace is None:
        yield lambda more: None
        return
    given: dict[str, Any] = {}
    if carrier is not None:
        from opentelemetry.propagate import extract

        given = {"context": extract(carrier), "kind": trace.SpanKind.SERVER}
    made = trace.get_tracer("mrag").start_span(name, attributes=dict(attributes or {}), **given)
    try:
        if current:
            # An error's message may have a part of a question or a query, so only its kind is told.
            with trace.use_span(made, record_exception=False, set_status_on_exception=False):
                yield made.set_attributes
        else:
            yield made.set_attributes
    except BaseException as error:
        made.set_attribute("error.type", type(error).__name__)
        made.set_status(trace.StatusCode.ERROR)
        raise
    finally:
        made.end()


def spanning(
    name: str, tell: Callable[[Any], Attributes] | None = None
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return what gives each call of a function a span."""

    def around(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def measured(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if tracing() is None:
                return function(*args, **kwargs)
            with span(name) as note:
                given = function(*args, **kwargs)
                if tell is not None:
                    note(tell(given))
                return given

        return measured

    return around


def export_spans() -> None:
    """Send spans to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, where it names one."""
    if not any(os.environ.get(f"OTEL_EXPORTER_OTLP_{name}") for name in ("ENDPOINT", "TRACES_ENDPOINT")):
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigError(
            "OTEL_EXPORTER_OTLP_ENDPOINT asks for spans, which need OpenTelemetry.",
            hint="pip install 'mrag[otel]', or unset the variable.",
        ) from error
    service = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "mrag")}
    provider = TracerProvider(resource=Resource.create(service))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
