// Cables: tubes along their segments, thicker and redder the harder they pull, at the stored frame
// nearest to a time, seen with the trajectory of their name and through the body.

const CABLE_VERTEX = `#version 300 es
layout(location = 0) in vec3 local; // around, around, 0 at the start and 1 at the end
layout(location = 1) in vec3 from;
layout(location = 2) in vec3 to;
layout(location = 3) in float pull; // 0 to 1, of the largest
uniform mat4 camera;
uniform float radius;
out vec3 facing, colour;
void main() {
    vec3 z = normalize(to - from + vec3(1e-12, 0.0, 0.0));
    vec3 x = normalize(cross(abs(z.z) < 0.9 ? vec3(0, 0, 1) : vec3(0, 1, 0), z)), y = cross(z, x);
    facing = local.x * x + local.y * y;
    float taut = clamp(abs(pull), 0.0, 1.0);
    vec3 tint = pull < 0.0 ? vec3(0.15, 0.4, 0.9) : vec3(0.88, 0.16, 0.1); // pushes, pulls
    colour = mix(vec3(0.55, 0.57, 0.6), tint, sqrt(taut));
    gl_Position = camera * vec4(mix(from, to, local.z) + facing * radius * (0.6 + 0.9 * taut), 1.0);
}`;

const CABLE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 facing, colour;
uniform vec3 light;
uniform float opacity;
out vec4 pixel;
void main() {
    float a = opacity;
    pixel = vec4(colour * (0.75 + 0.25 * dot(normalize(facing), light)) * a, a);
}`;

class Cables {
    constructor(c, trajectories) {
        this.name = c.name;
        this.body = trajectories.find((t) => t.name === c.name);
        this.times = decode(c.times, Float32Array);
        this.data = decode(c.segments, Float32Array); // [frames, count, 7] from, to, tension (N)
        this.count = this.data.length / 7 / this.times.length;
        this.largest = 0;
        for (let i = 6; i < this.data.length; i += 7) this.largest = Math.max(this.largest, Math.abs(this.data[i]));
    }

    get visible() {
        return !this.body || this.body.visible;
    }

    // The segments at a time, between stored frames, with tensions as fractions of the largest.
    at(time) {
        const [row, fraction] = locate(this.times, time), size = 7 * this.count;
        const out = this.data.slice(row * size, (row + 1) * size);
        for (let i = 0; i < size; i++) {
            if (fraction > 0) out[i] += fraction * (this.data[(row + 1) * size + i] - out[i]);
            if (i % 7 === 6) out[i] /= this.largest || 1;
        }
        return out;
    }
}

// One tube for all: a strip around a circle from one end to the other.
class CableTubes {
    constructor(gl) {
        const strip = [], sides = 10;
        for (let i = 0; i <= sides; i++)
            for (const end of [0, 1]) strip.push(Math.cos((2 * Math.PI * i) / sides), Math.sin((2 * Math.PI * i) / sides), end);
        this.program = program(gl, CABLE_VERTEX, CABLE_FRAGMENT);
        this.corners = strip.length / 3;
        this.array = gl.createVertexArray();
        this.buffer = gl.createBuffer();
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(strip), gl.STATIC_DRAW);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        for (const [i, size, offset] of [[1, 3, 0], [2, 3, 12], [3, 1, 24]]) {
            gl.enableVertexAttribArray(i);
            gl.vertexAttribPointer(i, size, gl.FLOAT, false, 28, offset);
            gl.vertexAttribDivisor(i, 1);
        }
        gl.bindVertexArray(null);
    }

    // Faint through what is before them, then plainly what is not hidden.
    draw(viewer, sets) {
        const { gl } = viewer, at = viewer.use(this.program);
        gl.uniform3fv(at.light, viewer.light);
        gl.uniform1f(at.radius, 0.008 * viewer.radius);
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        for (const set of sets.filter((s) => s.visible)) {
            gl.bufferData(gl.ARRAY_BUFFER, set.at(viewer.time), gl.DYNAMIC_DRAW);
            for (const hidden of [true, false]) {
                gl.depthFunc(hidden ? gl.GREATER : gl.LESS);
                gl.depthMask(!hidden);
                gl.uniform1f(at.opacity, hidden ? 0.55 : 1);
                gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, this.corners, set.count);
            }
        }
        gl.depthMask(true);
        gl.depthFunc(gl.LESS);
    }
}
