"""What names and operands say of an opcode that no table knows. Data only; :mod:`sassmix.scaffold.guess` applies it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A family of opcodes, or a sign in their operands.

    :param pattern: regular expression; a name has to fit as a whole, in operands it is searched.
    :param says: the family or sign in words, for the source of the row.
    :param datapath: empty where the family has both.
    """

    pattern: str
    category: str
    says: str
    space: str = ""
    dtype: str = ""
    datapath: str = ""


@dataclass(frozen=True, slots=True)
class Kinship:
    """How the name of one opcode is made from another's, which works alike. ``datapath`` is what it changes."""

    pattern: str
    says: str
    datapath: str = ""


#: A name that ends like this multiplies matrices; asked before anything else, since the verdict hangs on it.
MATRIX = (
    Rule(r"UT\w*MMA", "tensor", "UTC*MMA, matrix multiplies in tensor memory", "tensor", datapath="uniform"),
    Rule(r"\w*GMMA", "tensor", "*GMMA, matrix multiplies of a warpgroup", "shared", datapath="vector"),
    Rule(r"\w*MMA\d*", "tensor", "*MMA, matrix multiplies", datapath="vector"),
)

#: The same by operands: an opcode that has one is a matrix multiply, whatever its name says.
MATRIX_OPERANDS = (
    Rule(r"\bidesc\[", "tensor", "idesc[], an instruction descriptor, which matrix multiplies have", "tensor"),
)

#: The group ``stem`` is the name of the relative.
KINSHIPS = (
    Kinship(r"U(?P<stem>\w+)", "on the uniform datapath", "uniform"),
    Kinship(r"(?P<stem>\w+?)32I", "with an immediate"),
    Kinship(r"(?P<stem>\w*[A-Z])\d[A-Z]?", "in another width or number"),
    Kinship(r"(?P<stem>\w+)[PR]", "in another form"),
    Kinship(r"(?P<stem>\w+)U", "with uniform operands", "uniform"),
    Kinship(r"V(?P<stem>I\w+)", "on packed values"),
)

#: Families by name, the first that fits decides; a leading U for the uniform datapath is taken off before.
NAMES = (
    Rule(r"TC\w*BAR", "sync", "UTCBAR, barriers of tensor-core work", "shared", datapath="uniform"),
    Rule(r"(\w*DEP)?BAR\w*|\w*(BAR|FENCE|SYNCS|FLUSH)", "sync", "barriers and fences"),
    Rule(r"ARRIVES?|WARPGROUP\w*|U?CGABAR\w*", "sync", "arrival and waiting"),
    Rule(r"TC\w+", "tensor_memory", "UTC*, work in tensor memory", "tensor", datapath="uniform"),
    Rule(r"(LD|ST)TM?", "tensor_memory", "LDT* and STT*, tensor memory", "tensor"),
    Rule(r"\w*CCTL\w*", "memory.cache", "*CCTL, cache control"),
    Rule(r"(TMA|BLK)\w+", "memory.bulk", "UTMA* and UBLK*, bulk copies", "global", datapath="uniform"),
    Rule(r"LDG(STS|MC.S)\w*", "memory.bulk", "LDGSTS, copies from global to shared memory", "global"),
    Rule(r"SU[A-Z]{2,}\w*", "memory.surface", "SU*, surfaces", "surface"),
    Rule(r"T(EX|LD4?|XA|XD)\w*", "memory.texture", "TEX and TLD, textures", "texture"),
    Rule(r"TXQ|TMML|FOOTPRINT", "memory.texture", "questions on textures"),
    Rule(r"(ALD|AST|IPA|ISBE)\w*|LDTRAM", "graphics", "attributes of shaders", "attribute"),
    Rule(r"(ATOM|RED|ST)AS|(LD|ST|RED)\w*AS", "memory.distributed", "*AS, memory of a cluster", "distributed"),
    Rule(r"C?REDUX\w*", "warp", "REDUX, reductions over a warp"),
    Rule(r"(LD|ST|ATOM|RED)G\w*", "memory.global", "LD, ST, ATOM and RED with a G, global memory", "global"),
    Rule(r"(LD|ST|ATOM|RED)S\w*|MEMSETS\w*", "memory.shared", "LD, ST and ATOM with an S, shared memory", "shared"),
    Rule(r"(LD|ST)L\w*", "memory.local", "LD and ST with an L, local memory", "local"),
    Rule(r"LDC\w*", "memory.constant", "LDC, constant banks", "constant"),
    Rule(r"LD|ST|ATOM|RED", "memory.generic", "LD, ST, ATOM and RED without a letter, generic addresses", "generic"),
    Rule(r"SHFL|VOTE\w*|MATCH|ELECT", "warp", "work between lanes"),
    Rule(r"C?S2U?R\w*", "special", "S2R, special registers"),
    Rule(r"SET(MAXREG|SHMSZ|CTAID|\w*BASE)|GET\w*BASE|LEPC|VIRTCOUNT", "special", "machine state"),
    Rule(r"P2U?R|U?R2U?P|UP2UR|PLOP3?|C?P?SETP?", "predicate", "moves and logic of predicates"),
    Rule(r"[BDFHIQ]\w?2[BDFHIQ]P?|FRND", "conversion", "X2Y, conversions"),
    Rule(r"MOV\w*|U?R2UR|B2R|R2B|SEL|PRMT\w*", "movement", "copies, selects and permutes"),
    Rule(r"MUFU\w*|RRO", "float.special", "MUFU, approximated functions"),
    Rule(r"D(ADD|MUL|FMA|MNMX|SET|SETP|SEL)\d*", "float.fp64", "D*, double precision", dtype="f64"),
    Rule(r"V?[HQ](ADD|MUL|FMA|MNMX|SET|SETP)\w*", "float.fp16", "H* and Q*, half precision and narrower"),
    Rule(r"FH?(ADD|MUL|FMA|MNMX|SET|SETP|SEL|CMP|CHK|SWZ)\w*", "float.fp32", "F*, single precision", dtype="f32"),
    Rule(r"(LOP|SH[FLR]|VSH[LR]|POPC|FLO|BREV|BMSK|SGXT|BF[EI])\w*", "integer.logic", "shifts and bits"),
    Rule(
        r"V?[IX](ABS|ADD|MAD|MUL|MNMX|SET|SETP|SUB|SAD|CMP|DP|SCADD)\w*|V(ADD|MAD|MNMX|SETP?|ABSDIFF)\w*|C?LEA|CLMAD",
        "integer.arithmetic",
        "I* and V*, integer arithmetic",
        dtype="s32",
    ),
    Rule(
        r"(BRA|BRX|BRK|BREAK|CALL?|RET|EXIT|KILL?|JMP|JMX|JCAL|CONT|BSSY|BSYNC|SSY|SYNC|BMOV|BPT|YIELD|WARPSYNC)\w*"
        r"|P(BK|CNT|RET|EXIT|LONGJMP)|(PRE|LONG)\w+|ACQ\w+|NANOSLEEP|END\w+|\w*WORKID|QUAD\w+",
        "control",
        "control flow",
    ),
    Rule(r"NOP|PMTRIG|STP|TRACE\w*", "misc", "what changes nothing that a program sees"),
)

#: Asked where the name tells nothing; an address without a descriptor has no sign of its space.
OPERANDS = (
    Rule(r"\btmem\[", "tensor_memory", "tmem[], tensor memory", "tensor"),
    Rule(r"\bgdesc\[", "tensor", "gdesc[], a matrix descriptor", "shared"),
    Rule(r"(?<!\w)desc\[", "memory.global", "desc[], the descriptor of a global address", "global"),
    Rule(r"(?<!\w)c\[", "memory.constant", "a load from c[], a constant bank", "constant"),
)
