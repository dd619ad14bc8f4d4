"""Simulations inside PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: apt install python3-torch, and a virtual "
                            "environment with --system-site-packages")

import pliant.torch  # noqa: E402

STEPS = 6
double = torch.float64


def number(value):
    return torch.tensor(value, dtype=double, requires_grad=True)


def test_gradcheck_through_a_frictional_slide(slide):
    def outcome(friction, velocity, force, young):
        q, v = pliant.torch.rollout(slide, STEPS, friction=friction, velocity=velocity, force=force,
                                    young=1e6 * young)
        return q[-1].mean(0), v[-1, ::5]
    arguments = (number(0.2), number([0.4, 0.1, 0.0]), number(np.full((STEPS, 1, 3), 0.1)), number(1.0))
    q, _ = pliant.torch.rollout(slide, STEPS, velocity=arguments[1])
    assert (q[-1, :, 2].min() < 1e-6) and q[-1, :, 0].mean() > q[0, :, 0].mean() + 0.01  # it slides, in contact
    assert torch.autograd.gradcheck(outcome, arguments, eps=1e-5, atol=1e-7, rtol=1e-5)


def test_gradcheck_of_start_pins_and_poses(slide, hanging):
    turn = number([0.0, 0.0, 0.0, 1.0, 0.01, -0.02, 0.0])

    def tilted(pose):
        return pliant.torch.rollout(slide, 3, collider_pose=pose)[0][-1].mean(0)
    assert torch.autograd.gradcheck(tilted, (turn,), eps=1e-6, atol=1e-7, rtol=1e-4)
    target = torch.tensor(hanging.state().pin_target)

    def held(lift, compliance, position):
        q, _ = pliant.torch.rollout(hanging, 3, pin_target=target + lift, compliance=1e-6 * compliance,
                                    position=position)
        return q[-1].mean(0)
    arguments = (number([0.0, 0.0, 0.01]), number(1.0), number(hanging.state().q[::1].copy()))
    assert torch.autograd.gradcheck(held, arguments, eps=1e-6, atol=1e-7, rtol=1e-4)


def test_agrees_with_the_plain_interface(slide):
    mu = number(0.3)
    q, v = pliant.torch.rollout(slide, STEPS, friction=mu)
    (q[-1].sum() + v[2].square().sum()).backward()
    slide.set("friction", 0.3)
    rollout = slide.rollout(STEPS)
    np.testing.assert_array_equal(q.detach().numpy(), rollout.q)
    gradient = rollout.backward({STEPS: 1.0}, {2: 2 * rollout.v[2]})
    assert mu.grad.item() == pytest.approx(gradient.friction.item(), rel=1e-12)


def test_one_scene_in_a_batch(slide):
    """Samples have their own parameters and starts; the scene keeps its own."""
    mu = torch.tensor([0.1, 0.2, 0.4], dtype=double, requires_grad=True)
    speed = torch.tensor([[0.4, 0, 0], [0.3, 0.1, 0], [0.5, 0, 0]], dtype=double, requires_grad=True)
    q, _ = pliant.torch.rollout(slide, STEPS, friction=mu[:, None, None], velocity=speed[:, None, :])
    assert q.shape == (3, STEPS + 1, slide.vertex_count, 3)
    together = torch.autograd.grad(q[:, -1, :, :2].sum(), (mu, speed))
    for k in range(3):
        one_mu, one_speed = number(mu[k].item()), number(speed[k].detach().numpy())
        one, _ = pliant.torch.rollout(slide, STEPS, friction=one_mu, velocity=one_speed)
        torch.testing.assert_close(one, q[k], rtol=0, atol=0)
        alone = torch.autograd.grad(one[-1, :, :2].sum(), (one_mu, one_speed))
        torch.testing.assert_close(alone[0], together[0][k], rtol=1e-12, atol=0)
        torch.testing.assert_close(alone[1], together[1][k], rtol=1e-12, atol=1e-15)
    assert slide.get("friction") == 0.2


def test_one_number_a_sample(slide):
    """The parameter's own dimensions may be left out; gradients have the shape that was given."""
    mu, young = number([0.1, 0.2, 0.4]), number([1e6, 5e5, 2e5])
    q, _ = pliant.torch.rollout(slide, STEPS, friction=mu, young=young)
    full, _ = pliant.torch.rollout(slide, STEPS, friction=mu[:, None, None], young=young[:, None])
    assert q.shape == (3, STEPS + 1, slide.vertex_count, 3)
    torch.testing.assert_close(q, full, rtol=0, atol=0)
    found = torch.autograd.grad(q[:, -1, :, :2].sum(), (mu, young))
    expected = torch.autograd.grad(full[:, -1, :, :2].sum(), (mu, young))
    for f, e in zip(found, expected):
        torch.testing.assert_close(f, e, rtol=0, atol=0)
    grid, _ = pliant.torch.rollout(slide, 2, friction=mu, velocity=torch.zeros(2, 1, 1, 3, dtype=double))
    assert grid.shape[:2] == (2, 3)
    elements = np.linspace(1e5, 1e6, slide.element_count)
    assert pliant.torch.rollout(slide, 2, young=elements)[0].dim() == 3  # its own shape is no batch


def test_jacobian_and_interleaved_use(slide):
    """The same scene twice in one graph, and rows of a Jacobian from one tape."""
    def outcome(mu):
        return pliant.torch.rollout(slide, STEPS, friction=mu)[0][-1].mean(0)
    a, b = number(0.1), number(0.3)
    (outcome(a) * outcome(b)).sum().backward()
    ja, jb = (torch.autograd.functional.jacobian(outcome, x.detach()) for x in (a, b))
    # Adjoint systems are solved to 1e-8.
    assert a.grad.item() == pytest.approx((ja * outcome(b.detach())).sum().item(), rel=1e-7)
    assert b.grad.item() == pytest.approx((jb * outcome(a.detach())).sum().item(), rel=1e-7)


def test_steps_in_a_closed_loop(slide):
    gain = number(2.0)
    start = slide.state()
    q, v = torch.tensor(start.q), torch.tensor(start.v)
    for _ in range(STEPS):
        q, v = pliant.torch.step(slide, q, v, force=-gain * v.mean(0, keepdim=True))
    end = q[:, 0].mean()
    end.backward()

    def run(k):
        x, y = torch.tensor(start.q), torch.tensor(start.v)
        for _ in range(STEPS):
            x, y = pliant.torch.step(slide, x, y, force=-k * y.mean(0, keepdim=True))
        return x[:, 0].mean().item()
    assert gain.grad.item() == pytest.approx((run(2.001) - run(1.999)) / 0.002, rel=1e-5)


def test_a_step_takes_plain_numbers(slide):
    start = slide.state()
    q, v = torch.tensor(start.q), torch.tensor(start.v)
    given, same = (pliant.torch.step(slide, q, v, force=force)
                   for force in ([[3.0, 0, 0]], torch.tensor([[3.0, 0, 0]], dtype=torch.float64)))
    assert torch.equal(given[0], same[0])


def test_inside_a_network(slide):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).double()
    goals = torch.tensor([[0.1, 0.0], [0.05, 0.02]], dtype=double)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        q, _ = pliant.torch.rollout(slide, STEPS, velocity=net(goals)[:, None, :])
        loss = (q[:, -1, :, :2].mean(1) - q[:, 0, :, :2].mean(1) - goals).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_refusals(slide):
    pair = torch.zeros(2, 1, 3, dtype=double)
    with pytest.raises(TypeError, match="float64"):
        pliant.torch.rollout(slide, 2, friction=torch.tensor(0.2))
    with pytest.raises(ValueError, match=rf"young: expected shape \[..., {slide.element_count}\], got \[23\]"):
        pliant.torch.rollout(slide, 2, young=torch.ones(23, dtype=double))
    with pytest.raises(ValueError, match=rf"young: expected shape \[..., {slide.element_count}\], got \[3\]"):
        pliant.torch.rollout(slide, 2, young=torch.ones(3, dtype=double), velocity=pair)
    with pytest.raises(ValueError, match=r"compliance: expected shape \[..., 0\], got \[2\]"):
        pliant.torch.rollout(slide, 2, compliance=torch.ones(2, dtype=double), velocity=pair)
    with pytest.raises(ValueError, match=r"wind: expected shape \[..., 2, 0, 3\], got \[1, 3\]"):
        pliant.torch.rollout(slide, 2, wind=torch.zeros(1, 3, dtype=double))
    with pytest.raises(TypeError, match="mood"):
        pliant.torch.rollout(slide, 2, mood=1.0)
    for function, start in ((pliant.torch.rollout, [2]), (pliant.torch.step, pair)):
        with pytest.raises(TypeError, match="rollout: 'frictio': .* did you mean 'friction'"):
            function(slide, *start, frictio=torch.tensor(0.2))
    with pytest.raises(ValueError, match="batch dimensions"):
        pliant.torch.rollout(slide, 2, friction=torch.zeros(2, 1, 1, dtype=double),
                             young=torch.ones(3, 1, dtype=double))
    with pytest.raises(pliant.ArgumentError, match="friction = -1"):
        pliant.torch.rollout(slide, 2, friction=number(-1.0))
    mu = number(0.2)
    q, _ = pliant.torch.rollout(slide, 2, friction=mu)
    gradient, = torch.autograd.grad(q.square().sum(), mu, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.backward()
    q, _ = pliant.torch.rollout(slide, 2, friction=mu)
    with pytest.raises(pliant.NumericError, match="finite"):
        (q.sum() * float("nan")).backward()
    with torch.no_grad():
        q, _ = pliant.torch.rollout(slide, 2, friction=mu)
    assert not q.requires_grad
