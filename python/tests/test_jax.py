"""Simulations inside JAX: jit, grad and vmap against differences and the plain interface."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX: pip install jax")

import jax.numpy as jnp  # noqa: E402

import pliant.jax  # noqa: E402

STEPS = 6


@pytest.fixture(autouse=True)
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def outcome(scene):
    def loss(mu, velocity, force):
        q, v = pliant.jax.rollout(scene, STEPS, friction=mu, velocity=velocity, force=force)
        return jnp.sum(q[-1].mean(0)**2) + 0.1 * v[-1, 0, 0]
    return loss


ARGUMENTS = (0.2, np.array([0.4, 0.1, 0.0]), np.full((STEPS, 1, 3), 0.1))


def test_jit_and_grad_against_differences(slide):
    loss = outcome(slide)
    value, gradient = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))(*ARGUMENTS)
    assert value == pytest.approx(float(loss(*ARGUMENTS)), rel=1e-14)
    random = np.random.default_rng(0)
    for k, given in enumerate(ARGUMENTS):
        along, h = random.standard_normal(np.shape(given)), 1e-4
        ends = [loss(*(a + s * h * along if j == k else a for j, a in enumerate(ARGUMENTS))) for s in (1, -1)]
        difference = float(ends[0] - ends[1]) / (2 * h)
        assert np.sum(gradient[k] * along) == pytest.approx(difference, rel=1e-6)


def test_vmap_of_values_and_gradients(slide):
    loss = outcome(slide)
    mus = jnp.array([0.1, 0.2, 0.4])
    values = jax.jit(jax.vmap(loss, in_axes=(0, None, None)))(mus, *ARGUMENTS[1:])
    gradients = jax.vmap(jax.grad(loss), in_axes=(0, None, None))(mus, *ARGUMENTS[1:])
    for k, mu in enumerate(mus):
        assert values[k] == pytest.approx(float(loss(mu, *ARGUMENTS[1:])), rel=1e-14)
        assert gradients[k] == pytest.approx(float(jax.grad(loss)(mu, *ARGUMENTS[1:])), rel=1e-12)
    assert slide.get("friction") == 0.2


def test_one_number_a_sample(slide):
    mus = jnp.array([0.1, 0.2, 0.4])

    def end(mu):
        return pliant.jax.rollout(slide, STEPS, friction=mu)[0][..., -1, :, 0].mean(-1)
    together, alone = end(mus), jnp.stack([end(mu) for mu in mus])
    np.testing.assert_array_equal(together, alone)
    gradient = jax.grad(lambda mu: end(mu).sum())(mus)
    np.testing.assert_allclose(gradient, jax.vmap(jax.grad(end))(mus), rtol=1e-12)


def test_forward_mode_is_the_transpose_of_reverse_mode(slide):
    def end(mu, velocity, force, pose):
        q, v = pliant.jax.rollout(slide, STEPS, friction=mu, velocity=velocity, force=force, collider_pose=pose)
        return q[1:], 0.1 * v[-1]
    random = np.random.default_rng(1)
    pose = np.tile([0, 0, 0, 1.2, 0.1, -0.05, 0], (STEPS, 1, 1))
    given = (*map(jnp.asarray, ARGUMENTS), jnp.asarray(pose))
    along = tuple(jnp.asarray(random.standard_normal(np.shape(a))) for a in given)
    values, changes = jax.jit(lambda g, a: jax.jvp(end, g, a))(given, along)
    _, pushed = jax.linearize(end, *given)
    plain, pull = jax.vjp(end, *given)
    for k in range(2):
        np.testing.assert_array_equal(values[k], plain[k])
        np.testing.assert_allclose(pushed(*along)[k], changes[k], rtol=1e-12, atol=1e-15)
    weights = tuple(jnp.asarray(random.standard_normal(c.shape)) for c in changes)
    forward = sum(float(jnp.sum(w * c)) for w, c in zip(weights, changes))
    backward = sum(float(jnp.sum(g * a)) for g, a in zip(pull(weights), along))
    assert forward == pytest.approx(backward, rel=1e-8)
    h = 1e-5
    ends = [end(*(g + s * h * a for g, a in zip(given, along)))[0] for s in (1, -1)]
    difference, size = (ends[0] - ends[1]) / (2 * h), float(jnp.abs(changes[0]).max())
    np.testing.assert_allclose(changes[0], difference, atol=1e-6 * size)


def test_jacobians_both_ways_and_batches_of_tangents(slide):
    loss = outcome(slide)
    forward, backward = (d(loss, argnums=1)(*ARGUMENTS) for d in (jax.jacfwd, jax.jacrev))
    np.testing.assert_allclose(forward, backward, rtol=1e-8)  # to which sweeps are solved
    mus = jnp.array([0.1, 0.2])
    along = jax.vmap(lambda mu: jax.jvp(lambda m: loss(m, *ARGUMENTS[1:]), (mu,), (1.0,))[1])(mus)
    np.testing.assert_allclose(along, jax.vmap(jax.grad(loss), in_axes=(0, None, None))(mus, *ARGUMENTS[1:]),
                               rtol=1e-8)
    with pytest.raises(NotImplementedError, match="pliant"):
        jax.hessian(loss)(*ARGUMENTS)


def test_agrees_with_the_plain_interface(slide):
    q, v = pliant.jax.rollout(slide, STEPS)
    rollout = slide.rollout(STEPS)
    np.testing.assert_array_equal(q, rollout.q)
    np.testing.assert_array_equal(v, rollout.v)
    start = slide.state().q.copy()
    found = jax.grad(lambda x: pliant.jax.rollout(slide, STEPS, position=x)[0][-1].sum())(start)
    np.testing.assert_allclose(found, rollout.backward({STEPS: 1.0}).position, rtol=1e-12)


def test_large_arrays_pass_through_the_callback(context):
    scene = pliant.Scene(context=context)
    scene.add_body(pliant.Mesh.grid((8, 8, 8), 0.1, context=context), lumped_equally=True)
    forces = jnp.zeros((2, 512, 3)) + jnp.array([0.0, 0, 1])
    found = jax.jit(jax.grad(lambda f: pliant.jax.rollout(scene, 2, vertex_force=f)[0][-1, :, 2].sum()))(forces)
    # A free body: 1 N moves its centre by h^2 / m in its own step, and as far again in the next.
    share = 512 * scene.time_step**2 / scene.mass
    np.testing.assert_allclose(found[1, :, 2], share, rtol=1e-6)
    np.testing.assert_allclose(found[0, :, 2], 2 * share, rtol=1e-6)


def test_refusals(slide):
    with pytest.raises(TypeError, match="float64"):
        pliant.jax.rollout(slide, 2, friction=jnp.float32(0.2))
    with pytest.raises(TypeError, match="'frictio': .* did you mean 'friction'"):
        pliant.jax.rollout(slide, 2, frictio=jnp.float32(0.2))
    with pytest.raises(ValueError, match="young: expected shape"):
        pliant.jax.rollout(slide, 2, young=jnp.ones(2))
    with pytest.raises(Exception, match="friction = -1"):
        jax.block_until_ready(pliant.jax.rollout(slide, 2, friction=-1.0))
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(TypeError, match="jax_enable_x64"):
        pliant.jax.rollout(slide, 2, friction=0.2)
