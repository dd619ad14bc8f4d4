# %% [markdown]
# # Which friction coefficient was it?
#
# A block slides on a floor. From where it came to rest, PyTorch finds the coefficient of friction: the
# gradient goes backwards through the whole slide, contacts included.

# %%
import pliant
import pliant.torch
import torch

scene = pliant.Scene()
block = pliant.Mesh.box((0.12, 0.12, 0.06), cell=0.06).transform(translation=(0, 0, 1e-4))
scene.add_body(block, young=1e6, velocity=(0.5, 0, 0))
scene.add_collider("half_space", friction=0.15)
observed = torch.tensor(scene.rollout(30).q[-1])

log_mu = torch.tensor(0.4, dtype=torch.float64).log().requires_grad_()
optimizer = torch.optim.LBFGS([log_mu], tolerance_change=0, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    q, _ = pliant.torch.rollout(scene, 30, friction=log_mu.exp())
    loss = 1e4 * (q[-1] - observed).square().mean()
    loss.backward()
    print(f"mu = {log_mu.exp().item():.8f}   loss = {loss.item():.3e}")
    return loss


optimizer.step(closure)

# %%
assert abs(log_mu.exp().item() - 0.15) < 1e-6
