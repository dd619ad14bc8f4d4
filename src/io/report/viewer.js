// The 3-D view: draws trajectories, colliders, cables, observed points and contact forces at a time,
// from an orbiting camera. Order: solid surfaces, cables, ground grids, shadows on the ground,
// see-through surfaces, points, arrows on top.
// Colours leave the shaders multiplied by their opacity.

const SURFACE_VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float activation;
uniform mat4 camera, model;
uniform vec3 eye;
uniform float sink;
out vec3 world, facing;
out float red;
void main() {
    red = activation;
    vec4 p = model * vec4(position, 1.0);
    world = p.xyz;
    facing = mat3(model) * normal;
    p.xyz += normalize(p.xyz - eye) * sink; // away along the line of sight: deeper, but in the same place
    gl_Position = camera * p;
}`;

const SURFACE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 world, facing;
in float red;
uniform vec3 eye, light, up, colour;
uniform float opacity, lit;
out vec4 pixel;
void main() {
    if (lit < 0.5) {
        pixel = vec4(colour * opacity, opacity);
        return;
    }
    vec3 v = normalize(eye - world), n = normalize(facing);
    if (dot(n, v) < 0.0) n = -n;
    float sky = 0.5 + 0.5 * dot(n, up), key = max(dot(n, light), 0.0), head = max(dot(n, v), 0.0);
    float shine = pow(max(dot(n, normalize(light + v)), 0.0), 40.0);
    vec3 base = pow(mix(colour, vec3(0.84, 0.16, 0.12), red), vec3(2.2));
    vec3 c = base * (0.06 + 0.26 * sky + 0.80 * key + 0.16 * head) + vec3(0.09 * shine);
    float rim = pow(1.0 - head, 3.0);
    c += base * 0.25 * rim;
    float a = opacity < 1.0 ? min(opacity * (0.45 + 2.0 * rim), 1.0) : 1.0; // ghosts: clear inside, an outline
    pixel = vec4(pow(c, vec3(1.0 / 2.2)) * a, a);
}`;

const GRID_VERTEX = `#version 300 es
layout(location = 0) in vec2 corner;
uniform mat4 camera, model;
uniform vec2 centre;
uniform float extent;
out vec2 at;
void main() {
    at = centre + corner * extent;
    gl_Position = camera * model * vec4(at, 0.0, 1.0);
}`;

const GRID_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
uniform vec2 centre;
uniform float extent, spacing;
uniform vec3 colour;
out vec4 pixel;
float lines(float step) {
    vec2 u = at / step, w = fwidth(u);
    vec2 d = abs(fract(u - 0.5) - 0.5) / w;
    return (1.0 - min(min(d.x, d.y), 1.0)) * (1.0 - smoothstep(0.15, 0.5, max(w.x, w.y)));
}
void main() {
    float fade = 1.0 - smoothstep(0.25, 1.0, length(at - centre) / extent);
    float a = fade * (0.05 + 0.16 * lines(spacing) + 0.26 * lines(5.0 * spacing));
    pixel = vec4(colour * a, a);
}`;

// One arrow per instance from `base` along `force`; z 0..1 is the shaft, 1..2 the head.
const ARROW_VERTEX = `#version 300 es
layout(location = 0) in vec4 local;
layout(location = 1) in vec3 base;
layout(location = 2) in vec3 force;
uniform mat4 camera;
uniform float scale, radius, border;
out vec3 facing;
void main() {
    float size = length(force) * scale;
    vec3 z = normalize(force + vec3(1e-12, 0.0, 0.0));
    vec3 x = normalize(cross(abs(z.z) < 0.9 ? vec3(0, 0, 1) : vec3(0, 1, 0), z)), y = cross(z, x);
    float head = min(5.0 * radius, 0.6 * size), thin = min(1.0, size / (12.0 * radius));
    float along = local.w <= 1.0 ? local.w * (size - head) : size - head + (local.w - 1.0) * head;
    facing = local.x * x + local.y * y;
    if (local.w == 2.0) along += 2.0 * border; // the tip; elsewhere the border is around
    vec3 p = base + z * along + facing * (local.z * radius * thin + (local.w < 2.0 ? border : 0.0));
    gl_Position = camera * vec4(p, 1.0);
}`;

const ARROW_FRAGMENT = `#version 300 es
precision highp float;
in vec3 facing;
uniform vec3 colour, light;
out vec4 pixel;
void main() {
    pixel = vec4(colour * (0.84 + 0.16 * dot(normalize(facing), light)), 1.0);
}`;

function program(gl, vertex, fragment) {
    const p = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
        gl.attachShader(p, shader);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    const at = {};
    for (let i = 0; i < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); i++) {
        const { name } = gl.getActiveUniform(p, i);
        at[name] = gl.getUniformLocation(p, name);
    }
    return { p, at };
}

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);

// A trajectory's frames, kept as they were stored and decoded for one time at a time.
class Trajectory {
    constructor(gl, t) {
        this.count = 3 * t.vertices;
        this.times = decode(t.times, Float32Array);
        this.box = decode(t.box, Float32Array);
        this.stored = decode(t.positions, Uint16Array);
        this.positions = new Float32Array(this.count);
        this.activation = t.activation && decode(t.activation, Uint8Array);
        this.active = t.activation && new Float32Array(t.vertices);
        this.largest = t.largest || 0;
        this.decodeAt(this.times[0]);
        this.surface = new Surface(gl, this.positions, decode(t.triangles, Uint32Array));
        Object.assign(this, { name: t.name, colour: t.colour, opacity: t.opacity, edges: t.edges,
            visible: !t.hidden });
    }

    decodeAt(time) {
        const [frame, fraction] = locate(this.times, time);
        const { positions, box, stored, count } = this;
        for (let pass = 0; pass < (fraction > 0 ? 2 : 1); pass++) {
            const f = frame + pass, weight = pass ? fraction : 1 - fraction, from = f * count;
            for (let a = 0; a < 3; a++) {
                const lower = box[6 * f + a], scale = (box[6 * f + 3 + a] - lower) / 65535;
                for (let i = a; i < count; i += 3) {
                    const x = weight * (lower + scale * stored[from + i]);
                    positions[i] = pass ? positions[i] + x : x;
                }
            }
            for (let i = 0; this.active && i < count / 3; i++)
                this.active[i] = (pass && this.active[i]) + (weight * this.activation[from / 3 + i]) / 255;
        }
    }

    setTime(time) {
        this.decodeAt(time);
        this.surface.update(this.positions, this.active);
    }

    get centre() {
        const sum = [0, 0, 0];
        for (let i = 0; i < this.count; i++) sum[i % 3] += this.positions[i];
        return sum.map((s) => (3 * s) / this.count);
    }
}

class Collider {
    constructor(gl, c) {
        const shape = colliderShape(c);
        this.surface = shape && new Surface(gl, shape.positions, Uint32Array.from(shape.triangles));
        this.reach = shape ? shape.positions.reduce((far, x) => Math.max(far, Math.abs(x)), 0) : 0;
        this.poses = c.poses;
        Object.assign(this, { name: c.name, shape: c.shape, times: c.times, visible: true, opacity: 1 });
        this.setTime(this.times[0]);
    }

    setTime(time) {
        const [row, fraction] = locate(this.times, time);
        const pose = this.poses.slice(7 * row, 7 * row + 7);
        if (fraction > 0) {
            const next = this.poses.slice(7 * row + 7, 7 * row + 14);
            const side = [3, 4, 5, 6].reduce((s, i) => s + pose[i] * next[i], 0) < 0 ? -1 : 1;
            for (let i = 0; i < 7; i++)
                pose[i] += fraction * ((i < 3 ? 1 : side) * next[i] - pose[i]);
        }
        this.model = poseMatrix(pose);
    }
}

// Contact forces, seen with the trajectory of their name; the arrows of the stored frame nearest to a time.
class Contacts {
    constructor(c, trajectories) {
        this.name = c.name;
        this.body = trajectories.find((t) => t.name === c.name);
        this.times = decode(c.times, Float32Array);
        this.arrows = decode(c.arrows, Float32Array);
        const counts = decode(c.counts, Uint32Array);
        this.first = new Uint32Array(counts.length + 1);
        counts.forEach((n, i) => { this.first[i + 1] = this.first[i] + n; });
        this.largest = 0;
        for (let i = 0; i < this.arrows.length; i += 9)
            this.largest = Math.max(this.largest, Math.hypot(...this.arrows.subarray(i + 3, i + 6)),
                Math.hypot(...this.arrows.subarray(i + 6, i + 9)));
    }

    get visible() {
        return !this.body || this.body.visible;
    }

    // point, normal, tangent of every arrow at the time
    at(time) {
        const [row, fraction] = locate(this.times, time), frame = row + (fraction > 0.5 ? 1 : 0);
        return this.arrows.subarray(9 * this.first[frame], 9 * this.first[frame + 1]);
    }
}

class Viewer {
    constructor(canvas, view) {
        const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, stencil: true,
            premultipliedAlpha: true, preserveDrawingBuffer: true });
        if (!gl) throw new Error("WebGL 2 is not available");
        Object.assign(this, { canvas, gl, up: view.up });
        this.surfaces = program(gl, SURFACE_VERTEX, SURFACE_FRAGMENT);
        this.grids = program(gl, GRID_VERTEX, GRID_FRAGMENT);
        this.arrows = program(gl, ARROW_VERTEX, ARROW_FRAGMENT);
        this.trajectories = view.trajectories.map((t) => new Trajectory(gl, t));
        this.colliders = view.colliders.map((c) => new Collider(gl, c));
        this.contacts = view.contacts.map((c) => new Contacts(c, this.trajectories));
        this.cables = view.cables.map((c) => new Cables(c, this.trajectories));
        this.tubes = new CableTubes(gl);
        this.pointProgram = program(gl, POINT_VERTEX, POINT_FRAGMENT);
        this.points = view.points.map((p) => new Points(gl, p));
        this.forces = { normal: false, tangent: false, scale: 1 };
        this.makeGrid();
        this.makeArrow();
        const times = [...this.trajectories, ...this.contacts].flatMap((t) => [t.times[0], t.times.at(-1)]);
        this.start = Math.min(...times);
        this.end = Math.max(...times);
        [this.ex, this.ey] = frameOf(this.up);
        this.light = unit(add(add(this.up, this.ex, 0.35), this.ey, -0.45));
        this.follow = false;
        this.measure();
        this.reset();
        this.setTheme();
        this.setTime(this.start);
    }

    makeGrid() {
        const gl = this.gl;
        this.gridArray = gl.createVertexArray();
        gl.bindVertexArray(this.gridArray);
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    }

    makeArrow() {
        const gl = this.gl, data = [], sides = 12, rings = [[1, 0], [1, 1], [2.6, 1], [0, 2]];
        for (let k = 0; k < 3; k++)
            for (let i = 0; i < sides; i++)
                for (const [ring, j] of [[k, i], [k, i + 1], [k + 1, i], [k, i + 1], [k + 1, i + 1], [k + 1, i]]) {
                    const a = (2 * Math.PI * j) / sides;
                    data.push(Math.cos(a), Math.sin(a), ...rings[ring]);
                }
        this.arrowCount = data.length / 4;
        this.arrowArray = gl.createVertexArray();
        this.arrowBuffer = gl.createBuffer();
        gl.bindVertexArray(this.arrowArray);
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.STATIC_DRAW);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 0, 0);
        for (const i of [1, 2]) {
            gl.enableVertexAttribArray(i);
            gl.vertexAttribDivisor(i, 1);
        }
    }

    // The sphere that holds every frame (and the colliders that are not much larger).
    measure() {
        const lower = [Infinity, Infinity, Infinity], upper = [-Infinity, -Infinity, -Infinity];
        const include = (p, r = 0) => p.forEach((x, a) => {
            lower[a] = Math.min(lower[a], x - r);
            upper[a] = Math.max(upper[a], x + r);
        });
        for (const { box } of this.trajectories)
            for (let i = 0; i < box.length; i += 3) include(Array.from(box.subarray(i, i + 3)));
        for (const { data } of this.cables)
            for (let i = 0; i < data.length; i += 7)
                for (const end of [i, i + 3]) include(Array.from(data.subarray(end, end + 3)));
        const bodies = this.trajectories.length ? Math.hypot(...sub(upper, lower)) / 2 : Infinity;
        const middle = add(lower, sub(upper, lower), 0.5);
        for (const { positions } of this.points) // but for outliers
            for (let i = 0; i < positions.length; i += 3) {
                const p = Array.from(positions.subarray(i, i + 3));
                if (Math.hypot(...sub(p, middle)) < 3 * bodies) include(p);
            }
        for (const c of this.colliders)
            if (c.surface && c.reach < 2 * bodies) include(axisOf(c.model, 3), c.reach);
        if (!isFinite(lower[0])) include([0, 0, 0], 1);
        this.centre = add(lower, sub(upper, lower), 0.5);
        this.radius = Math.max(Math.hypot(...sub(upper, lower)) / 2, 1e-6);
        const step = this.radius / 4, power = 10 ** Math.floor(Math.log10(step));
        this.spacing = power * (step / power >= 5 ? 5 : step / power >= 2 ? 2 : 1);
        this.forceLargest = Math.max(0, ...this.contacts.map((c) => c.largest));
    }

    reset(yaw = -1.05, pitch = 0.32) {
        const aspect = this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1) || 1.6;
        this.camera = { yaw, pitch, target: this.centre.slice(),
            distance: (0.86 * this.radius) / Math.sin(0.3) / Math.min(1, aspect) };
        this.dirty = true;
    }

    setTheme() {
        const style = getComputedStyle(this.canvas);
        this.ink = rgb(style.getPropertyValue("--grid").trim() || "#808080");
        this.obstacle = rgb(style.getPropertyValue("--obstacle").trim() || "#9aa4ad");
        this.dirty = true;
    }

    setTime(time) {
        const before = this.follow && this.trajectories[0].centre;
        this.time = Math.min(Math.max(time, this.start), this.end);
        for (const item of [...this.trajectories, ...this.colliders]) item.setTime(this.time);
        if (before)
            this.camera.target = add(this.camera.target, sub(this.trajectories[0].centre, before));
        this.dirty = true;
    }

    // Unit vectors of the camera: towards the eye, to the right, upwards.
    axes() {
        const { yaw, pitch } = this.camera, c = Math.cos(pitch);
        const back = add(add(this.ex.map((x) => x * c * Math.cos(yaw)), this.ey, c * Math.sin(yaw)),
            this.up, Math.sin(pitch));
        const right = unit(cross(this.up, back));
        return { back, right, top: cross(back, right) };
    }

    orbit(dx, dy) {
        const limit = Math.PI / 2 - 0.01, c = this.camera;
        c.yaw -= 0.008 * dx;
        c.pitch = Math.min(Math.max(c.pitch + 0.008 * dy, -limit), limit);
        this.dirty = true;
    }

    pan(dx, dy) {
        const { right, top } = this.axes(), c = this.camera;
        const step = (2 * c.distance * Math.tan(0.3)) / Math.max(this.canvas.clientHeight, 1);
        c.target = add(add(c.target, right, -dx * step), top, dy * step);
        this.dirty = true;
    }

    zoom(factor) {
        const c = this.camera;
        c.distance = Math.min(Math.max(c.distance * factor, 0.02 * this.radius), 50 * this.radius);
        this.dirty = true;
    }

    toggleForces() {
        const on = !(this.forces.normal || this.forces.tangent);
        Object.assign(this.forces, { normal: on, tangent: on });
        this.dirty = true;
    }

    draw() {
        const { gl, canvas, camera } = this, ratio = Math.min(window.devicePixelRatio || 1, 2);
        const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
        const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        this.eye = add(camera.target, this.axes().back, camera.distance);
        const far = camera.distance + 40 * this.radius;
        this.matrix = multiply(perspective(0.6, width / height, camera.distance / 100, far),
            lookAt(this.eye, camera.target, this.up));
        gl.viewport(0, 0, width, height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
        gl.enable(gl.DEPTH_TEST);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        const all = [...this.trajectories, ...this.colliders].filter((s) => s.visible && s.surface);
        for (const s of all) if (s.opacity >= 1) this.drawSurface(s);
        if (this.cables.length) this.tubes.draw(this, this.cables);
        gl.depthMask(false);
        for (const c of this.colliders) if (c.visible && !c.surface) this.drawPlane(c);
        for (const s of all) if (s.opacity < 1) this.drawSurface(s);
        gl.depthMask(true);
        if (this.points.length) drawPoints(this, this.points, ratio);
        this.drawForces();
        this.dirty = false;
    }

    use({ p, at }) {
        const gl = this.gl;
        gl.useProgram(p);
        gl.uniformMatrix4fv(at.camera, false, this.matrix);
        return at;
    }

    drawSurface(s) {
        const gl = this.gl, at = this.use(this.surfaces), solid = s.opacity >= 1;
        const colour = s.colour ? rgb(s.colour) : this.obstacle;
        gl.uniformMatrix4fv(at.model, false, s.model || identity());
        gl.uniform3fv(at.eye, this.eye);
        gl.uniform3fv(at.light, this.light);
        gl.uniform3fv(at.up, this.up);
        gl.uniform3fv(at.colour, colour);
        gl.uniform1f(at.opacity, s.opacity);
        gl.uniform1f(at.lit, 1);
        // Facets that rest on a round obstacle cut into it a little: let them show all the same.
        gl.uniform1f(at.sink, s.model ? 0.006 * this.radius : 0);
        gl.enable(gl.POLYGON_OFFSET_FILL);
        gl.polygonOffset(solid ? 1 : -1, solid ? 1 : -1);
        if (!solid && !s.surface.open) gl.enable(gl.CULL_FACE);
        s.surface.draw(false);
        gl.disable(gl.CULL_FACE);
        gl.disable(gl.POLYGON_OFFSET_FILL);
        if (!s.edges) return;
        gl.uniform1f(at.lit, 0);
        gl.uniform3fv(at.colour, colour.map((x) => x * 0.45));
        gl.uniform1f(at.opacity, solid ? 0.55 : Math.min(1, s.opacity + 0.3));
        s.surface.draw(true);
    }

    drawPlane(plane) {
        const gl = this.gl, at = this.use(this.grids), m = plane.model, origin = axisOf(m, 3);
        const away = sub(this.centre, origin);
        const centre = [dot(away, axisOf(m, 0)), dot(away, axisOf(m, 1))];
        gl.uniformMatrix4fv(at.model, false, m);
        gl.uniform2fv(at.centre, centre);
        gl.uniform1f(at.extent, 5 * this.radius);
        gl.uniform1f(at.spacing, this.spacing);
        gl.uniform3fv(at.colour, this.ink);
        gl.bindVertexArray(this.gridArray);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        const n = axisOf(m, 2);
        if (dot(n, this.light) > 0.3 && dot(sub(this.eye, origin), n) > 0) this.drawShadows(n, dot(n, origin));
    }

    // Every pixel of the plane is darkened once, however many triangles fall on it.
    drawShadows(n, d) {
        const gl = this.gl, at = this.use(this.surfaces), flat = shadowMatrix(n, d, this.light);
        gl.uniform1f(at.lit, 0);
        gl.uniform3fv(at.colour, [0, 0, 0]);
        gl.uniform1f(at.sink, 0);
        gl.enable(gl.STENCIL_TEST);
        gl.stencilFunc(gl.EQUAL, 0, 255);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        const casting = [...this.trajectories, ...this.colliders].sort((a, b) => b.opacity - a.opacity);
        for (const s of casting) {
            if (!s.visible || !s.surface) continue;
            gl.uniformMatrix4fv(at.model, false, s.model ? multiply(flat, s.model) : flat);
            gl.uniform1f(at.opacity, 0.2 * Math.max(s.opacity, 0.35));
            s.surface.draw(false);
        }
        gl.disable(gl.STENCIL_TEST);
        gl.clear(gl.STENCIL_BUFFER_BIT);
    }

    drawForces() {
        const { gl, forces } = this;
        if (!(forces.normal || forces.tangent) || !this.forceLargest) return;
        gl.clear(gl.DEPTH_BUFFER_BIT); // forces act inside the contact: show them through the body
        const at = this.use(this.arrows);
        gl.uniform3fv(at.light, this.light);
        gl.uniform1f(at.scale, (0.6 * forces.scale * this.radius) / this.forceLargest);
        gl.bindVertexArray(this.arrowArray);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.arrowBuffer);
        for (const contacts of this.contacts.filter((c) => c.visible)) {
            const data = contacts.at(this.time);
            gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
            for (const [kind, offset] of [["normal", 12], ["tangent", 24]]) {
                if (!forces[kind]) continue;
                gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 36, 0);
                gl.vertexAttribPointer(2, 3, gl.FLOAT, false, 36, offset);
                this.drawArrows(at, data.length / 9, rgb(FORCE_COLOUR[kind]));
            }
        }
    }

    // With a dark outline, so that they stand out from each other and from any colour: the far side of
    // slightly thicker arrows.
    drawArrows(at, count, colour) {
        const { gl } = this, radius = 0.005 * this.radius;
        gl.uniform1f(at.radius, radius);
        gl.enable(gl.CULL_FACE);
        for (const outline of [true, false]) {
            gl.cullFace(outline ? gl.FRONT : gl.BACK);
            gl.uniform1f(at.border, outline ? 0.4 * radius : 0);
            gl.uniform3fv(at.colour, outline ? [0.1, 0.1, 0.12] : colour);
            gl.drawArraysInstanced(gl.TRIANGLES, 0, this.arrowCount, count);
        }
        gl.disable(gl.CULL_FACE);
    }

    // Between stored frames of the first motion, s.
    get frameSpacing() {
        const times = this.trajectories.length ? this.trajectories[0].times : [0];
        return times.length > 1 ? times[1] - times[0] : Infinity;
    }

    get triangleCount() {
        return this.trajectories.reduce((sum, t) => sum + t.surface.count / 3, 0);
    }
}

const FORCE_COLOUR = { normal: "#f6c700", tangent: "#ec3c8c" };
