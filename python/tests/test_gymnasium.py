"""A batch as a Gymnasium vector environment."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install gymnasium")

import pliant  # noqa: E402
import pliant.gymnasium  # noqa: E402

COUNT, STEPS, GOAL = 3, 6, 0.1


def distance(q, v):
    """Of the centres from a goal ahead, squared."""
    away = q[:, :, 0].mean(1) - GOAL
    dq = np.zeros_like(q)
    dq[:, :, 0] = (2 * away / q.shape[1])[:, None]
    return away ** 2, dq, None


@pytest.fixture
def env(slide):
    made = pliant.gymnasium.Environments(
        slide, COUNT, {"force": ([-1.0, -1.0, 0.0], [1.0, 1.0, 0.5])}, distance, steps=STEPS, repeat=2,
        vertices=[0, 5], draw=lambda generator, n: {"friction": generator.uniform(0.1, 0.3, n)})
    yield made
    made.close()


def test_spaces(env):
    assert env.single_action_space.shape == (3,) and env.action_space.shape == (COUNT, 3)
    assert env.single_observation_space.shape == (12,) and env.observation_space.shape == (COUNT, 12)
    observations, _ = env.reset(seed=1)
    assert observations in env.observation_space
    q = env.scene.state().q
    np.testing.assert_array_equal(observations[2, :3], q[0])
    np.testing.assert_array_equal(observations[2, 6:9], q[5])


def episode(env, actions):
    env.reset(seed=4)
    told = [env.step(actions[:, k]) for k in range(STEPS)]
    return told, sum(rewards for _, rewards, _, _, _ in told)


def test_random_policy(env):
    """Episodes of random actions end together, begin anew, and repeat with their seed."""
    env.action_space.seed(2)
    actions = np.stack([env.action_space.sample() for _ in range(STEPS)], axis=1)
    told, returns = episode(env, actions)
    for _, rewards, terminations, truncations, infos in told[:-1]:
        assert not terminations.any() and not truncations.any() and (rewards < 0).all() and not infos
    observations, _, terminations, truncations, infos = told[-1]
    assert truncations.all() and not terminations.any()
    assert (infos["final_obs"] != observations).any()
    np.testing.assert_array_equal(observations, env.reset()[0])
    again, same = episode(env, actions)
    np.testing.assert_array_equal(same, returns)
    np.testing.assert_array_equal(again[-1][4]["final_obs"], infos["final_obs"])
    assert len(set(returns)) == COUNT  # each has its own friction and actions


def test_gradient_policy(env):
    """Actions that follow the gradient of their return end nearer to the goal than random ones."""
    generator = np.random.default_rng(0)
    actions = generator.uniform(-1, 1, (COUNT, STEPS, 3))
    actions[..., 2] = 0.1
    _, returns = episode(env, actions)
    env.reset(seed=4)
    told, gradient = env.gradient(actions)
    np.testing.assert_allclose(told, returns, rtol=1e-5)  # steps on their own find a step anew, to its tolerance
    moved = actions.copy()
    moved[1, 2, 0] += 1e-4
    slope = (env.gradient(moved)[0][1] - told[1]) / 1e-4
    assert slope == pytest.approx(gradient[1, 2, 0], rel=1e-3)
    for _ in range(5):
        actions = np.clip(actions + 0.5 * gradient / np.abs(gradient).max(), env.single_action_space.low,
                          env.single_action_space.high)
        found, gradient = env.gradient(actions)
    assert (found > 0.9 * told).all() and found.sum() > 0.8 * told.sum()  # returns are negative


def test_failures_end_their_episode_alone(env):
    actions = np.zeros((COUNT, 3))
    env.reset(seed=4)
    calm = env.step(actions)
    env.reset(seed=4)
    actions[1] = np.nan
    observations, rewards, terminations, truncations, infos = env.step(actions)
    assert terminations.tolist() == [False, True, False] and not truncations.any()
    assert rewards[1] == 0 and "force" in infos["failure"][1] and infos["failure"][0] == ""
    for e in (0, 2):
        np.testing.assert_array_equal(observations[e], calm[0][e])
        assert rewards[e] == calm[1][e]
    np.testing.assert_array_equal(observations[1], env.reset()[0][1])


def test_refuses(slide):
    with pytest.raises(pliant.ArgumentError, match="collider_pose: cannot be an action"):
        pliant.gymnasium.Environments(slide, 2, {"collider_pose": 1.0}, distance)
    with pytest.raises(ValueError, match="young"):
        pliant.gymnasium.Environments(slide, 2, {"young": 1.0}, distance)
    env = pliant.gymnasium.Environments(slide, 2, {"force": 1.0}, distance)
    with pytest.raises(ValueError, match=r"actions: expected shape \[2, any, 3\], got \[2, 3\]"):
        env.gradient(np.zeros((2, 3)))
    env.close()
