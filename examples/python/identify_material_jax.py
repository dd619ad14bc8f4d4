# %% [markdown]
# # System identification with JAX and optax
#
# A bar, held at one end, swings in its weight. From the tip's path, seen with a little noise, its stiffness
# and its damping are found together. The simulation is part of a compiled function.

# %%
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pliant
import pliant.jax

jax.config.update("jax_enable_x64", True)
STEPS = 25

scene = pliant.Scene(time_step=0.02)
scene.add_body(pliant.Mesh.bar(0.4, 0.1, 0.1, cell=0.1))
scene.add_pin(0, "left")
tip = scene.bodies[0].mesh.group("right")


def path(x):
    """[steps + 1, 3] m: the tip's centre. x: logarithms of stiffness (Pa) and damping (1/s)."""
    q, _ = pliant.jax.rollout(scene, STEPS, young=jnp.exp(x[0]), damping=jnp.exp(x[1]))
    return q[:, tip].mean(1)


truth = jnp.log(jnp.array([8e4, 8.0]))
seen = path(truth) + 1e-5 * np.random.default_rng(0).standard_normal((STEPS + 1, 3))


def loss(x):
    return 1e4 * jnp.mean((path(x) - seen)**2)


# %%
optimizer = optax.lbfgs()
value_and_grad = optax.value_and_grad_from_state(loss)


@jax.jit
def update(x, state):
    value, gradient = value_and_grad(x, state=state)
    change, state = optimizer.update(gradient, state, x, value=value, grad=gradient, value_fn=loss)
    return optax.apply_updates(x, change), state, value


x = jnp.log(jnp.array([5e4, 3.0]))
state = optimizer.init(x)
for iteration in range(12):
    x, state, value = update(x, state)
    young, damping = np.exp(x)
    print(f"{iteration:2d}   young {young:8.1f} Pa   damping {damping:.4f} 1/s   loss {value:.3e}")

# %%
# What a vmap is for: the loss for several stiffnesses at once.
print(jax.vmap(lambda young: loss(jnp.log(jnp.array([young, 8.0]))))(jnp.array([6e4, 8e4, 1e5])))
assert abs(young / 8e4 - 1) < 0.01 and abs(damping / 8 - 1) < 0.01
