"""Blackwell with tensor memory: sm_100 and its relatives. sm_120 is another machine, see blackwell_rtx."""

import sassmix
from sassmix import Architecture, load_opcodes, sm

WARPGROUP = ("BGMMA", "HGMMA", "IGMMA", "QGMMA", "WARPGROUP", "WARPGROUPSET")
#: On neither sm_107 nor sm_110: nvdisasm 13.5 refuses encodings taken from an sm_100a cubin.
PACKED = ("QADD4", "QFMA4", "QMUL4", "VHMNMX", "VIADDMNMX", "VIMNMX3")
#: ptxas emits IADD3 and IMNMX for sm_110a where sm_100a has these.
NOT_110 = ("CREDUX", "FADD2", "FFMA2", "FMUL2", "IADD", "IMUL", "VIADD", "VIMNMX")
#: Printed by no disassembler, but in NVIDIA's table or named by other tools: on sm_100 alone.
DOUBTFUL = ("LDT", "STT", "UTCMXQMMA")
#: No texture, surface or graphics: for a texture fetch ptxas 13.5 emits a call on sm_107a, TEX on sm_100a.
NOT_107 = (
    *("AL2P", "ALD", "AST", "CCTLT", "CSMTEST", "FOOTPRINT", "IPA", "ISBERD", "ISBEWR", "LDTRAM", "OUT", "PIXLD"),
    *("SUATOM", "SULD", "SUQUERY", "SURED", "SUST", "TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ"),
    *("UBLKPF", "UTMAPF", "VABSDIFF", "VABSDIFF4"),
)


def _variant(number: int, extends: str, remove: tuple[str, ...], *more: str, table: bool = False) -> Architecture:
    name = f"blackwell-{number}"
    opcodes = load_opcodes(__file__, f"{name}.csv") if table else ()
    targets = sm(number, f"{number}a", f"{number}f", *more)
    return Architecture(name=name, sm=targets, extends=extends, family="blackwell", opcodes=opcodes, remove=remove)


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """sm_101 is the old name of sm_110."""
    removed = (*WARPGROUP, "BMMA", "ULDC")
    main = sm(100, "100a", "100f")
    return [
        Architecture(name="blackwell", sm=main, extends="hopper", opcodes=load_opcodes(__file__), remove=removed),
        _variant(103, "blackwell", ("UTCIMMA", *DOUBTFUL)),
        _variant(107, "blackwell-103", (*PACKED, *NOT_107), table=True),
        _variant(110, "blackwell", (*PACKED, *NOT_110, *DOUBTFUL), "101", "101a", "101f"),
    ]
