// Observed points: discs of a fixed size on the screen, joined by lines with where the model has them.
// Those of the stored frame nearest to the view's time are shown, paler when that is another time.

const POINT_VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
uniform mat4 camera;
uniform vec3 eye;
uniform float size, lift;
void main() {
    gl_Position = camera * vec4(position + normalize(eye - position) * lift, 1.0); // off the surface below
    gl_PointSize = size;
}`;

const POINT_FRAGMENT = `#version 300 es
precision highp float;
uniform vec3 colour;
uniform float opacity, disc;
out vec4 pixel;
void main() {
    float r = length(gl_PointCoord - 0.5) * 2.0, w = fwidth(r);
    float inside = disc > 0.5 ? 1.0 - smoothstep(1.0 - w, 1.0, r) : 1.0;
    float border = disc > 0.5 ? smoothstep(0.62 - w, 0.62 + w, r) : 0.0;
    float a = opacity * inside;
    pixel = vec4(mix(colour, vec3(0.1, 0.1, 0.12), border) * a, a);
}`;

class Points {
    constructor(gl, p) {
        Object.assign(this, { name: p.name, colour: p.colour, visible: !p.hidden });
        this.times = decode(p.times, Float32Array);
        this.positions = decode(p.positions, Float32Array);
        this.model = p.model && decode(p.model, Float32Array);
        const counts = decode(p.counts, Uint32Array);
        this.first = new Uint32Array(counts.length + 1);
        counts.forEach((n, i) => { this.first[i + 1] = this.first[i] + n; });
        this.array = gl.createVertexArray();
        this.buffer = gl.createBuffer();
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.enableVertexAttribArray(0);
        gl.bindVertexArray(null);
        this.frame = -1;
    }

    // The frame nearest to a time; its points and, beside each, the model's go to the buffer.
    load(gl, time) {
        const [row, fraction] = locate(this.times, time), frame = row + (fraction > 0.5 ? 1 : 0);
        this.count = this.first[frame + 1] - this.first[frame];
        if (frame === this.frame) return;
        const data = new Float32Array(6 * this.count), from = 3 * this.first[frame];
        for (let i = 0; i < this.count; i++) {
            data.set(this.positions.subarray(from + 3 * i, from + 3 * i + 3), 6 * i);
            if (this.model) data.set(this.model.subarray(from + 3 * i, from + 3 * i + 3), 6 * i + 3);
        }
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
        this.frame = frame;
    }

    draw(gl, at, opacity) {
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.uniform1f(at.opacity, opacity);
        if (this.model) {
            gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);
            gl.uniform1f(at.disc, 0);
            gl.drawArrays(gl.LINES, 0, 2 * this.count);
        }
        gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 24, 0);
        gl.uniform1f(at.disc, 1);
        gl.drawArrays(gl.POINTS, 0, this.count);
    }
}

// Faint through what is before them, then plainly what is not hidden.
function drawPoints(viewer, sets, ratio) {
    const { gl, frameSpacing } = viewer, at = viewer.use(viewer.pointProgram);
    gl.uniform3fv(at.eye, viewer.eye);
    gl.uniform1f(at.lift, 0.008 * viewer.radius);
    gl.depthMask(false);
    for (const set of sets.filter((s) => s.visible)) {
        set.load(gl, viewer.time);
        const pale = Math.abs(set.times[set.frame] - viewer.time) > 0.51 * frameSpacing ? 0.4 : 1;
        gl.uniform1f(at.size, (set.count <= 20 ? 12 : set.count <= 500 ? 8 : 5) * ratio); // few are markers
        gl.uniform3fv(at.colour, rgb(set.colour));
        gl.disable(gl.DEPTH_TEST);
        set.draw(gl, at, 0.25 * pale);
        gl.enable(gl.DEPTH_TEST);
        set.draw(gl, at, pale);
    }
    gl.depthMask(true);
}
