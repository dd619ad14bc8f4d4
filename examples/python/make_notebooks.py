"""Writes each example beside it as a notebook: python make_notebooks.py

A line "# %%" begins a cell, "# %% [markdown]" one of text. The tests hold notebooks and scripts together.
"""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = ("identify_friction_torch", "train_controller_torch", "identify_material_jax", "drop_a_mesh",
            "steer_a_trunk")


def notebook(source: str) -> str:
    """The notebook's JSON, from a script's text."""
    cells = []
    for part in source.split("# %%")[1:]:
        head, _, body = part.partition("\n")
        kind = "markdown" if "[markdown]" in head else "code"
        lines = body.strip("\n").splitlines()
        if kind == "markdown":
            lines = [line[2:] for line in lines]
        cell = {"cell_type": kind, "id": f"cell{len(cells)}", "metadata": {},
                "source": [line + "\n" for line in lines[:-1]] + lines[-1:]}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
               "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    for name in EXAMPLES:
        (HERE / f"{name}.ipynb").write_text(notebook((HERE / f"{name}.py").read_text()))
