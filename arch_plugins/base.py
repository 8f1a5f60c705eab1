"""What modifiers say alike on every NVIDIA architecture; each root table extends this one.

Data types, in the facet ``dtype``: f64 f32 tf32 bf16 f16, e4m3 e5m2 (8 bits) e3m2 e2m3 (6 bits) e2m1 (4 bits);
s64 u64 s32 u32 s16 u16 s8 u8 s4 u4, b64 b32 b1 where there is no sign. A packed form has the type of its elements. It
is the type computed on; of a conversion the destination's, of a matrix multiply the inputs' (of mixed inputs the first
of this list). Empty where the mnemonic does not tell: moves, loads, F2F (the order of its two types decides), UTC*MMA
(a descriptor holds it).
"""

from collections.abc import Iterable

import sassmix
from sassmix import Architecture, ModifierRule

NARROW_FLOATS = "E4M3 E5M2 E3M2 E2M3 E2M1"
ATOMIC_TYPES = "F64 F32 BF16* F16* S64 S32 U32"


def _types(opcodes: str, types: str) -> Iterable[ModifierRule]:
    """A rule for each opcode and type; ``BF16*`` holds for ``BF16_V2`` and ``BF16x2`` too and gives bf16."""
    for opcode in opcodes.split():
        for name in types.split():
            yield ModifierRule(opcode=opcode, modifier=name, facets={"dtype": name.strip("*").lower()})


def _type(opcode: str, modifier: str, dtype: str) -> ModifierRule:
    return ModifierRule(opcode=opcode, modifier=modifier, facets={"dtype": dtype})


RULES = (
    ModifierRule(opcode="IMAD", modifier="MOV*", facets={"intent": "movement"}, source="multiplies by zero or one"),
    ModifierRule(
        opcode="IMAD", modifier="SHL", facets={"intent": "integer.logic"}, source="multiplies by 2^n: a shift"
    ),
    ModifierRule(opcode="IMAD", modifier="IADD", facets={"intent": "integer.arithmetic"}, source="multiplies by one"),
    ModifierRule(
        opcode="HADD2", modifier="F32", facets={"intent": "conversion", "dtype": "f32"}, source="half to float"
    ),
    ModifierRule(opcode="U*L2CCTL", modifier="PF*", facets={"intent": "memory.bulk"}, source="prefetch, as UBLKPF"),
    *_types("HMMA HGMMA", "TF32 BF16"),
    *_types("IMMA IGMMA IDP", "S8 U8 S4 U4 S16 U16"),
    *_types("QMMA MXQMMA QGMMA QADD4 QMUL4 QFMA4", " ".join(f"{t}*" for t in NARROW_FLOATS.split())),
    *_types("H[AMF]*2* HSET* VHMNMX", "BF16*"),
    *_types("MUFU", "F16*"),
    _type("MUFU", "*64H", "f64"),
    *_types("I2F UI2F", "F64 BF16* F16*"),
    *_types("FRND UFRND", "F64 BF16* F16*"),
    *_types("F2I UF2I F2IP UF2IP", "S64 U64 U32 S16 U16 S8 U8"),
    *_types("F2FP UF2FP", "BF16*"),
    _type("F2FP", "UNPACK*", "f16"),
    *_types("F2FP UF2FP", f"{NARROW_FLOATS} F16*"),
    *_types("ATOM* RED* SUATOM SURED CREDUX", ATOMIC_TYPES),
    *(_type(opcode, "64", "u64") for opcode in ("ATOM*", "RED[GS]", "RED", "REDAS", "SUATOM", "SURED")),
    *_types("I[ACMS][ADECNSU]* UI[AMS]* V[AIM][ABDEIMNS]* UVI*", "U32 S16* U16* S64 U64 S8* U8*"),
    *_types("SHF USHF", "S64 U64 S32 U32"),
    *_types("SHR USHR FLO UFLO BFE SGXT USGXT", "U32"),
    *(_type(opcode, "64", "s64") for opcode in ("IADD*", "UIADD3")),
)


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """The base of all tables; it has no target of its own."""
    return [Architecture(name="nvidia", modifier_rules=RULES)]
