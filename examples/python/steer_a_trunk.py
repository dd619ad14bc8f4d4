# %% [markdown]
# # Steer a trunk by windows
#
# A soft trunk with four cables is to draw a circle with its tip. A controller plans five steps ahead on a model of it by
# gradient, makes the first of them on the plant, and plans again from where the plant is: model-predictive control. The
# plant is heavier and stiffer than the model, and its state is measured with noise.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import pliant

HEIGHT, WINDOW, SWEEPS = 0.32, 5, 6


def trunk(young, density):
    scene = pliant.Scene(gravity=(0, 0, 0))
    scene.add_body(pliant.Mesh.grid((3, 3, 9), 0.04), name="trunk", young=young, poisson=0.2, density=density, damping=2)
    scene.add_pin("trunk", range(9))
    for edge in (0, 2, 8, 6):
        scene.add_cable([dict(body="trunk", vertex=9 * level + edge) for level in range(9)], compliance=1e-4,
                        two_way=True)
    return scene


model, plant = trunk(1e5, 1000), trunk(1.1e5, 1050)
state, random = plant.state(), np.random.default_rng(1)
TIP = 9 * 8 + 4  # the middle of its end

# %% [markdown]
# One decision: a few quasi-Newton steps on the lengths of the next five steps, warm-started with the last plan. The
# gradient comes from one backward sweep over the window.


# %%
def plan(lengths, seen, goal):
    def cost(x):
        rollout = model.rollout(WINDOW, state=seen, cable_length=x)
        off = rollout.q[1:, TIP] - goal
        dq = np.zeros_like(rollout.q)
        dq[1:, TIP] = 2 * off
        slope = rollout.backward(dq)["cable_length"]
        return np.sum(off**2), slope

    value, slope = cost(lengths)
    step = 0.3
    for _ in range(SWEEPS):
        trial = np.clip(lengths - step * slope, 0.7 * HEIGHT, 1.02 * HEIGHT)
        found, its = cost(trial)
        step *= 1.5 if found < value else 0.3
        if found < value:
            lengths, value, slope = trial, found, its
    return lengths


# %%
STEPS, path, times, decisions = 120, [], [], []
angle = np.linspace(0, 2 * np.pi, STEPS + WINDOW)
ramp = np.minimum(np.arange(STEPS + WINDOW) / 20, 1)
goals = state.q[TIP] + 0.06 * ramp[:, None] * np.stack([np.cos(angle), np.sin(angle), -0.2 * np.ones_like(angle)], 1)
lengths = np.full((WINDOW, 4), HEIGHT)
for k in range(STEPS):
    seen = model.state()
    seen.q[:] = state.q + 1e-5 * random.standard_normal(state.q.shape)
    seen.v[:], seen.cable_length[:] = state.v, state.cable_length
    began = time.perf_counter()
    lengths = plan(lengths, seen, goals[k : k + WINDOW])
    times.append(1e3 * (time.perf_counter() - began))
    plant.step(state, cable_length=lengths[0])
    path.append(state.q[TIP].copy())
    decisions.append(lengths[0].copy())
    lengths = np.vstack([lengths[1:], lengths[-1:]])
off = np.linalg.norm(np.array(path) - goals[:STEPS], axis=1)
print(f"{1e3 * np.sqrt(np.mean(off[20:] ** 2)):.2f} mm RMS off the circle, {np.mean(times):.0f} ms a decision")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.plot(*goals[20:STEPS, :2].T, "k:", label="circle")
left.plot(*np.array(path)[:, :2].T, label="tip")
left.set(aspect="equal", xlabel="x, m", ylabel="y, m")
left.legend()
right.plot(np.array(decisions))
right.set(xlabel="step", ylabel="cable lengths, m")
plt.show()
