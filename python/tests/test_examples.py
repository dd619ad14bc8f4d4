"""The examples run, as scripts and as notebooks, and the README's is true."""

import importlib.util
import os
import subprocess
import sys

import pytest

from conftest import ROOT

FOLDER = ROOT / "examples" / "python"
NEEDS = {
    "identify_friction_torch": {"torch": "apt install python3-torch"},
    "train_controller_torch": {"torch": "apt install python3-torch"},
    "identify_material_jax": {"jax": "pip install jax", "optax": "pip install optax"},
    "drop_a_mesh": {"matplotlib": "pip install matplotlib", "pyvista": "pip install pyvista"},
    "steer_a_trunk": {"matplotlib": "pip install matplotlib"},
}


def make_notebooks():
    spec = importlib.util.spec_from_file_location("make_notebooks", FOLDER / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def need(name):
    for module, how in NEEDS[name].items():
        pytest.importorskip(module, reason=f"needs {module}: {how}")


def environment():
    return {**os.environ, "MPLBACKEND": "agg"}


def test_notebooks_are_the_scripts():
    maker = make_notebooks()
    assert set(maker.EXAMPLES) == set(NEEDS)
    for name in maker.EXAMPLES:
        made = maker.notebook((FOLDER / f"{name}.py").read_text())
        assert made == (FOLDER / f"{name}.ipynb").read_text(), "run examples/python/make_notebooks.py"


@pytest.mark.parametrize("name", ["identify_friction_torch", "drop_a_mesh", "steer_a_trunk"])
def test_script(name, tmp_path):
    need(name)
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py"], cwd=tmp_path, env=environment(),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_notebook(name, tmp_path):
    """All code of the scripts is in the notebooks, so this runs those too."""
    need(name)
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient ipykernel")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat: pip install nbformat")
    pytest.importorskip("ipykernel", reason="needs ipykernel: pip install ipykernel")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment())
    if name == "drop_a_mesh":
        shown = notebook.cells[-1].outputs[-1]["data"]["text/html"]
        assert shown.startswith("<iframe srcdoc=")
        assert (tmp_path / "energy.png").stat().st_size > 5000
        assert (tmp_path / "stress.png").stat().st_size > 5000


def test_the_readmes_example(tmp_path):
    """If the README has Python, it runs."""
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    for block in blocks:
        code = block.split("```")[0]
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, done.stderr
