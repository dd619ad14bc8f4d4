# %% [markdown]
# # Drop a mesh and look at it
#
# A soft bunny falls on a floor. Its energies are drawn with matplotlib, its stress with PyVista, and a
# notebook plays the fall in 3-D.

# %%
import matplotlib.pyplot as plt
import numpy as np

import pliant

mesh = pliant.Mesh.shape("bunny", 250)
scene = pliant.Scene()
scene.add_body(mesh.transform(translation=(0, 0, 0.05)), name="bunny", young=3e4, damping=0.5)
scene.add_collider("half_space", name="floor", friction=0.4)
rollout = scene.rollout(40)
print(scene, "fell", f"{1e3 * (rollout.q[0, :, 2].min() - rollout.q[-1, :, 2].min()):.1f} mm")

# %%
figure, axes = plt.subplots()
for name in ("kinetic", "elastic", "gravity"):
    axes.plot(rollout.time[1:], rollout.info[f"energy_{name}"], label=name)
axes.set(xlabel="time, s", ylabel="energy, J")
axes.legend()
figure.savefig("energy.png")

# %%
try:
    import pyvista
except ImportError:
    print("pip install pyvista for this picture")
else:
    solid = np.column_stack([np.full(len(mesh.tets), 4), mesh.tets])
    grid = pyvista.UnstructuredGrid(solid, np.full(len(mesh.tets), pyvista.CellType.TETRA), rollout.q[-1])
    grid.cell_data["von Mises stress, Pa"] = scene.fields(rollout.state)["von_mises"]
    plotter = pyvista.Plotter(off_screen=True, window_size=(640, 480))
    plotter.add_mesh(grid, cmap="viridis")
    plotter.add_mesh(pyvista.Plane(i_size=0.5, j_size=0.5), color="lightgrey")
    plotter.screenshot("stress.png")

# %%
pliant.view(rollout)
