# %% [markdown]
# # A neural controller, trained through contact
#
# A soft block is to be pushed to a goal on a floor with friction, and to stop there. In every step a small
# network sees where the block is relative to its goal and how fast it moves, and decides how to push. It is
# trained by back-propagation through the simulation, friction and all, on a batch of goals at once.

# %%
import pliant
import pliant.torch
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
STEPS = 20

scene = pliant.Scene(time_step=0.02)
block = pliant.Mesh.box((0.1, 0.1, 0.05), cell=0.05).transform(translation=(-0.05, -0.05, 1e-5))
scene.add_body(block, young=1e5)
scene.add_force(0, per="mass")
scene.add_collider("half_space", friction=0.1)

controller = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
goals = 0.08 * torch.tensor([[1.0, 0], [0, 1], [-0.7, 0.7], [0.5, -0.5]])


def simulate(goals):
    """Positions [goals, 2] of the block's centre in every step, and its last velocity."""
    start = scene.state()
    q = torch.tensor(start.q).expand(len(goals), -1, -1)
    v = torch.zeros_like(q)
    path = [q[..., :2].mean(1)]
    for _ in range(STEPS):
        seen = torch.cat([10 * (goals - path[-1]), v[..., :2].mean(1)], 1)
        push = torch.nn.functional.pad(8 * torch.tanh(controller(seen)), (0, 1))  # m/s^2, none upwards
        q, v = pliant.torch.step(scene, q, v, force=push[:, None])
        path.append(q[..., :2].mean(1))
    return torch.stack(path), v[..., :2].mean(1)


# %%
optimizer = torch.optim.Adam(controller.parameters(), lr=0.02)
history = []
for epoch in range(19):
    path, speed = simulate(goals)
    loss = 1e3 * (path[-5:] - goals).square().mean() + speed.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d}   loss {loss.item():.4f}")

# %%
with torch.no_grad():
    path, speed = simulate(goals)
miss = (path[-1] - goals).norm(dim=1)
print(f"loss {history[0]:.3f} -> {history[-1]:.3f}; misses of {(1e3 * miss).numpy().round(1)} mm")
assert history[-1] < 0.2 * history[0]
