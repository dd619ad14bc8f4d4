#!/usr/bin/env python3
"""Pliant, MuJoCo and Newton beside each other on the same scenes, as a Markdown table.

    bench/peers/compare.py [--build build/release] [--vertices 1200]

Packages come from PyPI into an environment of their own, build/peers; what cannot be installed is left
out and named. CPU time of one thread, one process for each row.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = {"mujoco": ["mujoco"], "newton": ["newton", "warp-lang"]}
ROWS = ["pliant", "mujoco", "newton vbd", "newton explicit"]
SCENES = {"cloth": "cloth of 32 × 32 vertices on a ball of 0.15 m, μ 0.3, E 100 kPa",
          "armadillo": "armadillo of 0.93 m, dropped on a floor, μ 0.3, E 10 kPa"}


def python_of(place: Path) -> Path:
    if not (place / "bin" / "python").exists():
        venv.create(place, with_pip=True)
    return place / "bin" / "python"


def install(python: Path, packages: list[str]) -> Optional[str]:
    """The versions that are there now, or None."""
    made = subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], capture_output=True, text=True)
    if made.returncode:
        print(f"{packages[0]} cannot be installed: {made.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    code = f"from importlib.metadata import version; print(*(p + ' ' + version(p) for p in {packages}), sep=', ')"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def environment(build: Path) -> dict[str, str]:
    ours = {"PYTHONPATH": str(ROOT / "python"), "PLIANT_LIBRARY": str(build / "libpliant.so")}
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    return {**os.environ, **threads, **ours}


def write_armadillo(python: Path, build: Path, vertices: int, path: Path) -> None:
    code = ("import numpy, pliant, sys; m = pliant.Mesh.shape('armadillo', int(sys.argv[1])); "
            "numpy.savez(sys.argv[2], vertices=m.vertices, tets=m.tets)")
    subprocess.run([python, "-c", code, str(vertices), path], env=environment(build), check=True)


def measure(python: Path, build: Path, simulator: str, scene: str, mesh: Path, limit: float) -> dict[str, Any]:
    command = [python, HERE / "measure.py", simulator, scene, mesh]
    try:
        run = subprocess.run(command, env=environment(build), capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {limit:.0f} s"}
    if run.returncode:
        return {"failed": (run.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(run.stdout.strip().splitlines()[-1])


def show(simulator: str, result: dict[str, Any], ours: Optional[float]) -> str:
    if "failed" in result:
        return f"| {simulator} | | | | {result['failed']} |"
    ratio = f"{result['ms'] / ours:.2f}" if ours else ""
    what = f"{1e3 * result['inside']:.2f}" if result["finite"] else "not finite"
    return f"| {simulator} | {result['vertices']} | {result['ms']:.1f} | {ratio} | {what} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--place", type=Path, default=ROOT / "build" / "peers", help="of the environment")
    parser.add_argument("--vertices", type=int, default=1200, help="of the armadillo")
    parser.add_argument("--limit", type=float, default=1800, help="s a row")
    args = parser.parse_args()
    python = python_of(args.place)
    if install(python, ["numpy"]) is None:
        sys.exit(1)
    versions = {name: install(python, packages) for name, packages in PACKAGES.items()}
    mesh = args.place / "armadillo.npz"
    write_armadillo(python, args.build, args.vertices, mesh)
    for scene, title in SCENES.items():
        print(f"\n{title}; h 0.01 s, 50 steps\n\n| simulator | vertices | CPU ms a step | over Pliant's | "
              "deepest vertex (mm) |\n|---|---:|---:|---:|---:|")
        ours = None
        for simulator in ROWS:
            if versions.get(simulator.split()[0], "") is None:
                continue
            result = measure(python, args.build, simulator, scene, mesh, args.limit)
            ours = result.get("ms") if simulator == "pliant" else ours
            print(show(simulator, result, ours), flush=True)
    print("\n" + "; ".join(text for text in versions.values() if text) + ".")
    settings = subprocess.run([python, "-c", "import json, measure; print(json.dumps(measure.SETTINGS))"],
                              cwd=HERE, capture_output=True, text=True, check=True).stdout
    for simulator, text in json.loads(settings).items():
        print(f"- {simulator}: {text}")


if __name__ == "__main__":
    main()
