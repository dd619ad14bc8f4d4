// Triangle surfaces ready to draw: normals that are smooth within a face and sharp across creases,
// the edges, and the primitive shapes colliders have.

const CREASE = Math.cos((40 * Math.PI) / 180);

function faceNormal(p, t, k) {
    const a = 3 * t[k], b = 3 * t[k + 1], c = 3 * t[k + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    return [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
}

// Splits every vertex into one corner per group of faces whose normals agree on `positions`.
// Returns the triangles' corners and the vertex each corner comes from.
function splitCreases(positions, triangles) {
    const groups = new Map(), source = [], corners = new Uint32Array(triangles.length);
    for (let k = 0; k < triangles.length; k += 3) {
        const n = faceNormal(positions, triangles, k), u = unit(n);
        for (let j = 0; j < 3; j++) {
            const vertex = triangles[k + j];
            let list = groups.get(vertex);
            if (!list) groups.set(vertex, (list = []));
            let group = list.find((g) => dot(unit(g.sum), u) > CREASE);
            if (!group) {
                list.push((group = { sum: [0, 0, 0], corner: source.length }));
                source.push(vertex);
            }
            group.sum = add(group.sum, n);
            corners[k + j] = group.corner;
        }
    }
    return { corners, source: Uint32Array.from(source) };
}

// Each edge once, as pairs of corners; `open` when some edge has a single face, as cloth has.
function edgesOf(triangles, corners, vertexCount) {
    const seen = new Map();
    for (let k = 0; k < triangles.length; k += 3)
        for (let j = 0; j < 3; j++) {
            const i0 = k + j, i1 = k + ((j + 1) % 3), a = triangles[i0], b = triangles[i1];
            const key = Math.min(a, b) * vertexCount + Math.max(a, b), edge = seen.get(key);
            if (edge) edge.faces++;
            else seen.set(key, { pair: [corners[i0], corners[i1]], faces: 1 });
        }
    const list = [...seen.values()];
    return { edges: Uint32Array.from(list.flatMap((e) => e.pair)), open: list.some((e) => e.faces === 1) };
}

class Surface {
    constructor(gl, positions, triangles) {
        const split = splitCreases(positions, triangles);
        const { edges, open } = edgesOf(triangles, split.corners, positions.length / 3);
        Object.assign(this, { gl, open, source: split.source, corners: split.corners });
        this.count = triangles.length;
        this.edgeCount = edges.length;
        this.data = new Float32Array(7 * split.source.length); // position, normal, activation
        this.vertexBuffer = gl.createBuffer();
        this.array = gl.createVertexArray();
        this.edgeArray = gl.createVertexArray();
        for (const [array, indices] of [[this.array, split.corners], [this.edgeArray, edges]]) {
            gl.bindVertexArray(array);
            gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
            gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
            gl.bindBuffer(gl.ARRAY_BUFFER, this.vertexBuffer);
            for (let i = 0; i < 3; i++) {
                gl.enableVertexAttribArray(i);
                gl.vertexAttribPointer(i, i < 2 ? 3 : 1, gl.FLOAT, false, 28, 12 * i);
            }
        }
        gl.bindVertexArray(null);
        this.update(positions);
    }

    // New vertex positions and, if they have some, activations: normals are sums of face normals, so
    // weighted by area.
    update(positions, active) {
        const { data, source, corners, gl } = this;
        for (let i = 0, o = 0; i < source.length; i++, o += 7) {
            const p = 3 * source[i];
            data[o] = positions[p], data[o + 1] = positions[p + 1], data[o + 2] = positions[p + 2];
            data[o + 3] = data[o + 4] = data[o + 5] = 0;
            if (active) data[o + 6] = active[source[i]];
        }
        for (let k = 0; k < corners.length; k += 3) {
            const a = 7 * corners[k], b = 7 * corners[k + 1], c = 7 * corners[k + 2];
            const ux = data[b] - data[a], uy = data[b + 1] - data[a + 1], uz = data[b + 2] - data[a + 2];
            const vx = data[c] - data[a], vy = data[c + 1] - data[a + 1], vz = data[c + 2] - data[a + 2];
            const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
            data[a + 3] += nx, data[a + 4] += ny, data[a + 5] += nz;
            data[b + 3] += nx, data[b + 4] += ny, data[b + 5] += nz;
            data[c + 3] += nx, data[c + 4] += ny, data[c + 5] += nz;
        }
        gl.bindBuffer(gl.ARRAY_BUFFER, this.vertexBuffer);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    }

    draw(edges) {
        const gl = this.gl;
        gl.bindVertexArray(edges ? this.edgeArray : this.array);
        gl.drawElements(edges ? gl.LINES : gl.TRIANGLES, edges ? this.edgeCount : this.count,
            gl.UNSIGNED_INT, 0);
    }
}

// A surface of revolution about z from a profile of [radius, z] pairs, bottom to top.
function revolve(profile, segments = 48) {
    const positions = [], triangles = [];
    for (const [r, z] of profile)
        for (let i = 0; i < segments; i++) {
            const a = (2 * Math.PI * i) / segments;
            positions.push(r * Math.cos(a), r * Math.sin(a), z);
        }
    const at = (ring, i) => ring * segments + (profile[ring][0] > 0 ? i % segments : 0);
    for (let k = 0; k + 1 < profile.length; k++)
        for (let i = 0; i < segments; i++) {
            if (profile[k][0] > 0) triangles.push(at(k, i), at(k, i + 1), at(k + 1, i));
            if (profile[k + 1][0] > 0) triangles.push(at(k, i + 1), at(k + 1, i + 1), at(k + 1, i));
        }
    return { positions, triangles };
}

function boxShape([x, y, z]) {
    const positions = [];
    for (let i = 0; i < 8; i++) positions.push(i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
    return { positions, triangles: [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
        2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5] };
}

// Half circles of radius r about -h and +h on the axis; h = 0 is a sphere.
function capsuleShape(r, h) {
    const profile = [], steps = 16;
    for (let side = -1; side <= 1; side += 2)
        for (let i = 0; i <= steps; i++) {
            if (h === 0 && side === 1 && i === 0) continue;
            const a = ((i / steps) * Math.PI) / 2 + (side < 0 ? -Math.PI / 2 : 0);
            profile.push([Math.max(r * Math.cos(a), 0), side * h + r * Math.sin(a)]);
        }
    profile[0][0] = profile[profile.length - 1][0] = 0;
    return revolve(profile);
}

// The shape of a collider in its own frame; null for a plane.
function colliderShape(c) {
    const [a, b] = c.size;
    if (c.shape === "sphere") return capsuleShape(a, 0);
    if (c.shape === "capsule") return capsuleShape(a, b);
    if (c.shape === "cylinder") return revolve([[0, -b], [a, -b], [a, b], [0, b]]);
    if (c.shape === "box") return boxShape(c.size);
    if (c.shape === "mesh")
        return { positions: decode(c.vertices, Float32Array), triangles: decode(c.triangles, Uint32Array) };
    return null;
}
