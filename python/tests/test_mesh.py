"""Meshes: arrays, generators, files, meshio, surfaces."""

import gc

import numpy as np
import pytest

import pliant

TET = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_from_arrays(context):
    mesh = pliant.Mesh(TET, [[0, 1, 2, 3]], groups={"tip": [3], "all": ("tet", [0])}, context=context)
    assert mesh.check().volume == pytest.approx(1 / 6, rel=1e-15)
    assert mesh.group("tip").tolist() == [3] and mesh.groups["all"][0] == "tet"
    assert mesh.surface().shape == (4, 3)
    with pytest.raises(KeyError, match="'tip'"):
        mesh.group("toe")


def test_arrays_are_views_that_outlive_the_mesh(context):
    mesh = pliant.Mesh(TET, [[0, 1, 2, 3]], context=context)
    vertices = mesh.vertices
    vertices[3, 2] = 2
    assert mesh.check().volume == pytest.approx(1 / 3, rel=1e-15)
    assert not vertices.flags.owndata
    mesh.close()
    del mesh
    gc.collect()
    assert vertices[3, 2] == 2
    vertices[:] = 1  # still memory of its own


@pytest.mark.parametrize("make, volume", [
    (lambda c: pliant.Mesh.box((1, 2, 3), 0.5, context=c), 6),
    (lambda c: pliant.Mesh.grid((3, 3, 3), 0.5, context=c), 1),
    (lambda c: pliant.Mesh.bar(1, 0.2, 0.2, 0.1, context=c), 0.04),
    (lambda c: pliant.Mesh.rectangle(2, 1, 0.5, context=c), 2),
])
def test_generators(context, make, volume):
    assert make(context).check().volume == pytest.approx(volume, rel=1e-12)


def test_round_generators_approach_their_volume(context):
    # Inscribed polyhedra: the deficit shrinks with the square of the cell.
    for mesh, volume in ((pliant.Mesh.ellipsoid(1, 0.2, context=context), 4 / 3 * np.pi),
                         (pliant.Mesh.cylinder(1, 1, 0.2, context=context), np.pi),
                         (pliant.Mesh.disc(1, 0.1, context=context), np.pi)):
        assert volume * 0.95 < mesh.check().volume < volume


def test_built_in_bodies(context):
    shapes = {s.name: s for s in pliant.shapes()}
    assert "bunny" in shapes and shapes["towel"].cloth
    mesh = pliant.Mesh.shape("cube", 200, context=context)
    assert mesh.check().inverted == 0
    with pytest.raises(pliant.ArgumentError, match="nosuch"):
        pliant.Mesh.shape("nosuch", context=context)


def test_surface_to_solid(context, tmp_path):
    ball = pliant.Mesh.ellipsoid(0.5, 0.15, context=context)
    surface = pliant.Mesh(ball.vertices, triangles=ball.surface(), context=context)
    solid = surface.tetrahedralize(cell=0.1)
    # The deficit goes with the square of the cell: 1 % here.
    assert solid.check().volume == pytest.approx(ball.check().volume, rel=0.02)
    markers = solid.embed([[0.1, 0.2, 0.1], [0, 0, 0.4]])
    moved = solid.vertices @ np.diag([1, 2, 3]) + 1
    np.testing.assert_allclose(markers(moved), np.array([[0.1, 0.4, 0.3], [0, 0, 1.2]]) + 1, atol=1e-12)
    assert markers.weight.sum(1) == pytest.approx([1, 1])


def test_files(context, tmp_path):
    mesh = pliant.Mesh.bar(1, 0.2, 0.2, 0.1, context=context)
    mesh.write(tmp_path / "bar.msh")
    back = pliant.Mesh.read(tmp_path / "bar.msh", context=context)
    np.testing.assert_array_equal(back.tets, mesh.tets)
    np.testing.assert_allclose(back.vertices, mesh.vertices, rtol=1e-15)
    with pytest.raises(pliant.FileError, match="nosuch.msh") as caught:
        pliant.Mesh.read(tmp_path / "nosuch.msh", context=context)
    assert isinstance(caught.value, OSError)


def test_meshio(context, tmp_path):
    meshio = pytest.importorskip("meshio", reason="needs meshio: pip install meshio")
    mesh = pliant.Mesh.bar(1, 0.2, 0.2, 0.1, context=context)
    mesh.add_group("half", np.arange(len(mesh.tets) // 2), "tet")
    back = pliant.Mesh.from_meshio(mesh.to_meshio(), context=context)
    np.testing.assert_array_equal(back.tets, mesh.tets)
    assert back.groups.keys() == mesh.groups.keys()
    np.testing.assert_array_equal(back.group("half", "tet"), mesh.group("half", "tet"))
    mesh.write(tmp_path / "bar.msh")  # half of its tets in no group
    read = pliant.Mesh.from_meshio(meshio.read(tmp_path / "bar.msh"), context=context)
    np.testing.assert_array_equal(read.group("half", "tet"), mesh.group("half", "tet"))
    physical = meshio.Mesh(TET, [("tetra", [[0, 1, 2, 3]])], cell_data={"gmsh:physical": [np.array([7])]},
                           field_data={"flesh": np.array([7, 3])})
    assert pliant.Mesh.from_meshio(physical, context=context).group("flesh", "tet").tolist() == [0]
    with pytest.raises(pliant.MeshError, match="tetra or triangle, got line, quad"):
        pliant.Mesh.from_meshio(meshio.Mesh(TET, [("quad", [[0, 1, 2, 3]]), ("line", [[0, 1]])]))


def test_a_scenes_mesh_is_read_only(hanging):
    mesh = hanging.bodies[0].mesh
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 0
    with pytest.raises(pliant.MeshError, match="copy"):
        mesh.transform(scale=2)
    mesh.copy().transform(scale=2)


@pytest.mark.parametrize("arguments, error, message", [
    ((TET, [[0, 1, 2]]), ValueError, "tets: expected shape"),
    ((TET, [[0.0, 1, 2, 3]]), TypeError, "tets: expected integers"),
    (([[0, 0]], None), ValueError, "vertices"),
    (("abc", None), (TypeError, ValueError), "vertices"),
    (([[1j, 0, 0]], None), TypeError, "vertices"),
    ((TET, [[0, 1, 2, 2**40]]), ValueError, "C int"),
    ((TET, [[0, 1, 2, 4]]), pliant.MeshError, "tets: vertex 4 is named, there are 4"),
    ((TET, None, [[0, -1, 2]]), pliant.MeshError, "triangles: vertex -1"),
    ((3.0, None), ValueError, r"vertices: expected shape \[any, 3\], got \[\]"),
])
def test_wrong_arrays(context, arguments, error, message):
    with pytest.raises(error, match=message):
        pliant.Mesh(*arguments, context=context)


@pytest.mark.parametrize("call, error, message", [
    (lambda: pliant.Mesh.box((1, 1, 1), None), TypeError, "cell"),
    (lambda: pliant.Mesh.bar(1, "wide", 1, 1), TypeError, "width"),
    (lambda: pliant.Mesh.disc(1, [0.1, 0.2]), ValueError, "cell"),
    (lambda: pliant.Mesh.disc(1, -1), pliant.ArgumentError, "cell"),
    (lambda: pliant.Mesh.shape("bunny", 2.5), TypeError, "vertices: expected an integer, got float"),
    (lambda: pliant.Mesh.from_meshio("bunny.msh"), TypeError, "mesh: expected a meshio.Mesh, got str"),
    (lambda: pliant.Mesh(TET, [[0, 1, 2, 3]]).transform(scale="double"), TypeError, "scale"),
    (lambda: pliant.Mesh(TET, [[0, 1, 2, 3]]).embed([[0, 0, np.nan]]), pliant.ArgumentError, "point 0"),
])
def test_wrong_values(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_indices_spoilt_later_are_found(context):
    mesh = pliant.Mesh.box((1, 1, 1), 0.5, context=context)
    mesh.tets[0, 0] = 10**6
    assert mesh.check().bad_index == 1
    for use in (mesh.surface, lambda: mesh.embed([[0.1, 0.1, 0.1]]),
                lambda: pliant.Scene(context=context).add_body(mesh),
                lambda: pliant.Scene(context=context).add_collider("mesh", surface=mesh)):
        with pytest.raises(pliant.MeshError, match="mesh"):
            use()
