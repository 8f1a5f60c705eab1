"""The tables behind the hints: sets of rows, and rules that make a question of a set's share. Data only.

Every counter was looked up in Nsight Compute 2025.3, which knows chips from Turing on; ``source`` says where.
"""

from __future__ import annotations

from typing import NamedTuple

#: The first target whose chips that Nsight Compute knows.
FIRST_TARGET = 75
#: Rows of a mix by what they are called: patterns for the mnemonic, the opcode or a facet, all of which must hold.
SETS: dict[str, dict[str, str]] = {
    "local memory": {"category": "memory.local"},
    "generic memory": {"category": "memory.generic", "opcode": "LD* ST* ATOM* RED*"},
    "shuffles and permutes": {"opcode": "SHFL PRMT MOVM"},
    "conversions": {"category": "conversion"},
    "conversions from or to double": {"category": "conversion", "mnemonic": "*.F64 *.F64.*"},
    "integer arithmetic and logic": {"category": "integer.*"},
    "floating point and matrix": {"category": "float.* tensor"},
    "double precision": {"category": "float.fp64"},
    "atomics": {"opcode": "ATOM ATOMG ATOMS RED REDG REDAS SUATOM SURED"},
    "shared memory": {"category": "memory.shared"},
    "barriers and fences": {"opcode": "BAR MEMBAR ERRBAR FENCE SYNCS UCGABAR_*"},
    "constants and special registers": {"opcode": "LDC LDCU ULDC S2R S2UR"},
    "NOP": {"opcode": "NOP"},
    "HFMA2.MMA": {"opcode": "HFMA2", "mnemonic": "*.MMA *.MMA.*"},
    "warp-wide matrix opcodes": {"opcode": "HMMA IMMA"},
    "warpgroup matrix opcodes": {"opcode": "*GMMA"},
    "tensor-memory matrix opcodes": {"opcode": "UTC*MMA"},
    "copies by threads": {"opcode": "LDGSTS"},
    "bulk copies": {"opcode": "UTMALDG UBLKCP"},
}


class Rule(NamedTuple):
    """When a question is asked.

    :param of: a set, or a measure, whose share decides.
    :param at_least: the share (0 to 1) of executed instructions from which on it is asked; at 0 one is enough.
    :param look_at: a metric of Nsight Compute, or the identifier of a section.
    :param source: where that name was read.
    :param in_code: the same for a listing; None where a listing cannot raise the question.
    :param more_than: a set that ``of`` must exceed.
    :param without: a set of which there must be none.
    :param archs: patterns of the targets that it is meant for, and that have the counter.
    """

    of: str
    at_least: float
    question: str
    look_at: str
    source: str
    in_code: float | None = None
    more_than: str = ""
    without: str = ""
    archs: str = "*"


_EXPORT = "raw page of an H200, Nsight Compute 2025.3"
_QUERY = "ncu 2025.3 --query-metrics, all chips from Turing to Blackwell"
_SECTION = "ncu 2025.3 --list-sections"
RULES: tuple[Rule, ...] = (
    Rule(
        of="local memory",
        at_least=0.005,
        in_code=0,
        question="are these spills, or does an array or a call need the stack?",
        look_at="sass__inst_executed_register_spilling",
        source=_EXPORT,
    ),
    Rule(
        of="generic memory",
        at_least=0.01,
        in_code=0,
        question="could the compiler be told which address space it is?",
        look_at="sm__inst_executed_pipe_lsu_ops_generic_cmd_read.sum",
        source=_EXPORT,
    ),
    Rule(
        of="lanes that took no part",
        at_least=0.25,
        question="do the threads of a warp part ways, or are warps not full?",
        look_at="smsp__average_thread_inst_executed_per_inst_executed.ratio",
        source=_QUERY,
    ),
    Rule(
        of="instructions with no lane on",
        at_least=0.1,
        question="are instructions issued whose guard is false for the whole warp?",
        look_at="smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio",
        source=_QUERY,
    ),
    Rule(
        of="shuffles and permutes",
        at_least=0.1,
        question="is data being rearranged?",
        look_at="smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
        source=_EXPORT,
    ),
    Rule(
        of="conversions",
        at_least=0.05,
        question="are values kept in another type than they are computed in?",
        look_at="smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",
        source=_EXPORT,
    ),
    Rule(
        of="conversions from or to double",
        at_least=0.01,
        in_code=0,
        question="does a constant or a function without the suffix f widen the arithmetic?",
        look_at="sm__inst_executed_pipe_fp64.sum",
        source=_EXPORT,
    ),
    Rule(
        of="double precision",
        at_least=0.1,
        question="is double precision meant?",
        look_at="smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",
        source=_EXPORT,
    ),
    Rule(
        of="integer arithmetic and logic",
        at_least=0.4,
        more_than="floating point and matrix",
        question="is this the work itself, or the arithmetic of addresses and loops?",
        look_at="smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
        source=_EXPORT,
    ),
    Rule(
        of="atomics",
        at_least=0.02,
        question="could the values of a warp or block be combined first?",
        look_at="MemoryWorkloadAnalysis_Tables",
        source=_SECTION,
    ),
    Rule(
        of="shared memory",
        at_least=0.15,
        question="do lanes meet in the same bank?",
        look_at="l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
        source=_QUERY,
    ),
    Rule(
        of="barriers and fences",
        at_least=0.05,
        question="is each of them needed?",
        look_at="WarpStateStats",
        source=_SECTION,
    ),
    Rule(
        of="constants and special registers",
        at_least=0.3,
        question="is the work of a thread so small that its set-up is a large part of it?",
        look_at="LaunchStats",
        source=_SECTION,
    ),
    Rule(
        of="NOP",
        at_least=0.1,
        question="where do they stand, and what are they put there for?",
        look_at="SourceCounters",
        source=_SECTION,
    ),
    Rule(
        of="HFMA2.MMA",
        at_least=0.01,
        archs="sm_80 sm_87 sm_90*",
        question="it is counted on the tensor pipe: is that taken for matrix work?",
        look_at="sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum",
        source=_EXPORT,
    ),
    Rule(
        of="no matrix opcode, although the code has one",
        at_least=0,
        question="was another path through the code expected?",
        look_at="sm__inst_executed_pipe_tensor.sum",
        source=_EXPORT,
    ),
    Rule(
        of="warp-wide matrix opcodes",
        at_least=0,
        in_code=0,
        without="warpgroup matrix opcodes",
        archs="sm_90*",
        question="is the warpgroup path wanted, HGMMA on sm_90a?",
        look_at="sm__inst_executed_pipe_tensor_op_gmma.sum",
        source=_EXPORT,
    ),
    Rule(
        of="warp-wide matrix opcodes",
        at_least=0,
        in_code=0,
        without="tensor-memory matrix opcodes",
        archs="sm_100* sm_103* sm_110*",
        question="is the path through tensor memory wanted, UTCHMMA on sm_100a?",
        look_at="sm__inst_executed_pipe_tc.sum",
        source="ncu 2025.3 --query-metrics, chips gb100, gb110 and gb10b",
    ),
    Rule(
        of="copies by threads",
        at_least=0.01,
        in_code=0,
        without="bulk copies",
        archs="sm_90* sm_100* sm_103* sm_110* sm_120* sm_121*",
        question="could bulk copies do the same, UTMALDG?",
        look_at="sm__inst_executed_pipe_tma.sum",
        source=_EXPORT,
    ),
)
