"""CUTracer's own validator and schemas as oracle: what claims to be a trace is one, and what is none proves nothing.

The package is run in a process of its own, so that its imports and warnings stay out of this one.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sassmix.counts import Counts
from sassmix.readers import cutracer_trace
from sassmix.readers._trace_files import COMPLETION, INSTRUCTIONS, METADATA
from tests.conftest import FIXTURES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("cutracer") is None, reason="the package cutracer is installed on Linux only"
)
TRACES = sorted(p for folder in ("cutracer", "seed") for p in (FIXTURES / "counts" / folder).rglob("*.ndjson*"))
_VALIDATE = "import json, sys, cutracer; print(json.dumps([cutracer.validate_json_trace(p) for p in sys.argv[1:]]))"
_SCHEMAS = "import json; from cutracer.validation import schema_loader as s; print(json.dumps(s.SCHEMAS_BY_TYPE))"
Record = dict[str, Any]


def cutracer(code: str, *arguments: Path) -> Any:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def schemas() -> dict[str, Record]:
    """CUTracer's JSON schemas by the type of the record."""
    found: dict[str, Record] = cutracer(_SCHEMAS)
    return found


@pytest.fixture(scope="module")
def one_warp() -> list[Record]:
    """A whole trace of one warp, cut out of a fixture."""
    trace = next(path for path in TRACES if path.suffix == ".ndjson" and "seed" in path.parts)
    head, *executed, completion = map(json.loads, trace.read_text().splitlines())
    mine = [record for record in executed if record["warp"] == 0]
    return [head, *mine, {**completion, "trace_records_written": len(mine)}]


def read(path: Path) -> Counts:
    (counts,) = cutracer_trace.READER.read(path)
    assert isinstance(counts, Counts)
    return counts


def judged(folder: Path, traces: Sequence[Sequence[Record]]) -> list[tuple[bool, Counts]]:
    """For each trace whether CUTracer takes it for valid, and what sassmix reads."""
    paths = [folder / f"{number}.ndjson" for number in range(len(traces))]
    for path, trace in zip(paths, traces, strict=True):
        path.write_text("".join(json.dumps(record) + "\n" for record in trace))
    results = cutracer(_VALIDATE, *paths)
    return [(result["valid"], read(path)) for result, path in zip(results, paths, strict=True)]


def changed(trace: Sequence[Record], kind: str, change: Callable[[Record], Record]) -> list[Record]:
    return [change(record) if record["type"] == kind else record for record in trace]


def without(field: str) -> Callable[[Record], Record]:
    return lambda record: {name: value for name, value in record.items() if name != field}


def with_fields(fields: Record) -> Callable[[Record], Record]:
    return lambda record: {**record, **fields}


def test_every_trace_of_the_fixtures_is_valid_and_read_to_its_end() -> None:
    assert len(TRACES) >= 5
    for path, result in zip(TRACES, cutracer(_VALIDATE, *TRACES), strict=True):
        assert (result["valid"], result["errors"]) == (True, []), path.name
        counts = read(path)
        assert (counts.total, counts.gaps, counts.problems) == (result["record_count"], [], [])


def test_no_type_of_record_is_made_up(schemas: dict[str, Record]) -> None:
    assert {*INSTRUCTIONS, METADATA, COMPLETION} <= set(schemas)


@pytest.mark.parametrize("kind", ["kernel_metadata", "capture_completion", "opcode_only"])
def test_the_validator_wants_every_required_field(
    kind: str, schemas: dict[str, Record], one_warp: list[Record], tmp_path: Path
) -> None:
    """The oracle can say no, and there is no required field that the fixtures have by another name."""
    fields = [field for field in schemas[kind]["required"] if field != "type"]
    verdicts = judged(tmp_path, [changed(one_warp, kind, without(field)) for field in fields])
    assert not [field for field, (valid, _) in zip(fields, verdicts, strict=True) if valid]


@pytest.mark.parametrize("kind", ["kernel_metadata", "opcode_only"])
def test_no_optional_field_is_needed_to_count(
    kind: str, schemas: dict[str, Record], one_warp: list[Record], tmp_path: Path
) -> None:
    sample = next(record for record in one_warp if record["type"] == kind)
    fields = sorted(set(sample) - set(schemas[kind]["required"]))
    assert fields
    for field, (valid, counts) in zip(
        fields, judged(tmp_path, [changed(one_warp, kind, without(field)) for field in fields]), strict=True
    ):
        assert (field, valid, counts.total, counts.problems, counts.lost) == (field, True, len(one_warp) - 2, [], [])


CONTRADICTIONS: list[Record] = [
    {"kernel_completed": False}, {"channel_drained": False}, {"dropped_records": 1}, {"errors": ["size limit"]},
    {"version": 2}, {"status": "COMPLETE"}, {"trace_records_written": "19"}, {"grid_launch_id": "0"}, {"errors": None},
]  # fmt: skip


def test_a_completion_record_that_is_not_valid_proves_nothing(
    schemas: dict[str, Record], one_warp: list[Record], tmp_path: Path
) -> None:
    kind = "capture_completion"
    changes = [without(field) for field in schemas[kind]["required"] if field != "type"]
    changes += [with_fields(odd) for odd in CONTRADICTIONS]
    verdicts = judged(tmp_path, [one_warp, *(changed(one_warp, kind, change) for change in changes)])
    assert [(valid, not counts.lost) for valid, counts in verdicts] == [(True, True), *[(False, False)] * len(changes)]
