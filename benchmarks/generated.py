"""Source of long kernels that hardly repeat themselves: random arithmetic, drawn anew for every kernel."""

from __future__ import annotations

import random
from pathlib import Path

_TYPES = {"f": "float", "d": "double", "i": "unsigned", "l": "unsigned long long"}
_VARIABLES = 6
#: Statements by type; ``a b c e`` are variables, ``x`` a constant, ``k`` an array, ``n m s`` numbers.
_REAL = (
    "{a} = {b} * {c} + {e};",
    "{a} = {b} - {c} * {x};",
    "{a} = {b} > {c} ? {e} : {a} + {x};",
    "{a} += sqrt({b} * {b} + {x});",
    "if ({b} < {x}) {{ {a} = {c}; {k}[t + {n}] = {e}; }}",
    "{a} = {k}[t * {m} + {n}] + {b};",
)
_WHOLE = (
    "{a} = {b} * {c} + {x};",
    "{a} = ({b} ^ {c}) & ({e} | {x});",
    "{a} = {b} > {c} ? {e} - {x} : {a};",
    "{a} = ({b} << {s}) + ({c} >> {s});",
    "{a} += {k}[({b} & 1023) + {n}];",
    "{k}[t + {n}] = {a}; {a} ^= {b} + {x};",
    "{a} += __popc((unsigned){b}) * {c};",
)


def write_kernels(path: Path, kernels: int, statements: int) -> Path:
    """A ``.cu`` file with so many kernels, of some four instructions for each statement; always the same one."""
    chance = random.Random(1)
    path.write_text("\n".join(_kernel(chance, number, statements) for number in range(kernels)), encoding="utf-8")
    return path


def _kernel(chance: random.Random, number: int, statements: int) -> str:
    arguments = ", ".join(f"{name}* {key}" for key, name in _TYPES.items())
    lines = [f'extern "C" __global__ void generated_{number}({arguments}) {{', "int t = threadIdx.x;"]
    for key, name in _TYPES.items():
        values = ", ".join(f"{key}{n} = {key}[t + {chance.randrange(1 << 12)}]" for n in range(_VARIABLES))
        lines.append(f"{name} {values};")
    lines += [_statement(chance) for _ in range(statements)]
    lines += [f"{key}[t * {_VARIABLES} + {n}] = {key}{n};" for key in _TYPES for n in range(_VARIABLES)]
    return "\n".join([*lines, "}\n"])


def _statement(chance: random.Random) -> str:
    key = chance.choice("ffddiil")
    a, b, c, e = (f"{key}{chance.randrange(_VARIABLES)}" for _ in range(4))
    real = key in "fd"
    x = f"{chance.uniform(1, 9):.6f}{'f' if key == 'f' else ''}" if real else f"{chance.getrandbits(31)}u"
    n, m, s = chance.randrange(1 << 16), chance.randrange(2, 99), chance.randrange(1, 31)
    return chance.choice(_REAL if real else _WHOLE).format(a=a, b=b, c=c, e=e, x=x, k=key, n=n, m=m, s=s)
