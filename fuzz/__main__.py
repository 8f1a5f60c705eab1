"""``python -m fuzz HARNESS... [--seconds N]``: runs harnesses one after the other, each in a process of its own."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import traceback
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path("build", "fuzz")


def main() -> int:
    """Run; exits with 1 if something was found, which lies in ``build/fuzz/HARNESS``."""
    arguments = _arguments()
    if arguments.one:
        _fuzz(arguments.one, arguments.seconds)
    for name in arguments.harness or sorted(path.name for path in CORPUS.iterdir()):
        print(f"--- {name}, {arguments.seconds} seconds", flush=True)
        again = [sys.executable, "-m", "fuzz", "--one", name, "--seconds", str(arguments.seconds)]
        subprocess.run(again, check=False)
    found = sorted(path for path in FOUND.glob("*/*") if path.parent.name != "queue")
    for path in found:
        print(f"found: {path}")
    return bool(found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("harness", nargs="*", help="folders of the corpus; all of them if left out")
    parser.add_argument("--seconds", type=int, default=60, help="for each harness (default: 60)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _fuzz(name: str, seconds: int) -> None:
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["sassmix", "arch_plugins", "json", "csv"]):
        from fuzz.harnesses import HARNESSES
    harness = HARNESSES[name]
    folder, queue = FOUND / name, FOUND / "queue" / name
    for place in (folder, queue):
        place.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()

    def one(data: bytes) -> None:
        """A finding is kept, and the run goes on: one fault must not hide the others."""
        try:
            harness(data)
        except Exception as error:
            place = "".join(traceback.format_tb(error.__traceback__)[-2:]) + type(error).__name__
            if place not in seen:
                seen.add(place)
                path = folder / hashlib.sha256(data).hexdigest()[:16]
                path.write_bytes(data)
                (FOUND / f"{name}.log").open("a").write(f"{path}\n{traceback.format_exc()}\n")

    options = ["-timeout=20", "-rss_limit_mb=3000", "-max_len=20000", "-print_final_stats=1", "-verbosity=1"]
    with atheris.instrument_imports(include=["sassmix", "arch_plugins"]):
        one(next(iter((CORPUS / name).iterdir())).read_bytes())  # imports what is only imported at need
    atheris.Setup(
        [
            sys.argv[0],
            *options,
            f"-max_total_time={seconds}",
            f"-artifact_prefix={folder}/",
            f"-dict={CORPUS.parent / 'words.dict'}",
            str(queue),
            str(CORPUS / name),
        ],
        one,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
