// 3-vectors as arrays, 4×4 matrices column by column as WebGL reads them, quaternions (w,x,y,z).

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) =>
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => {
    const length = Math.hypot(...a) || 1;
    return [a[0] / length, a[1] / length, a[2] / length];
};

// Two directions that make a right-handed frame with the unit vector n last.
function frameOf(n) {
    const other = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0];
    const x = unit(cross(other, n));
    return [x, cross(n, x)];
}

function multiply(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++)
        for (let r = 0; r < 4; r++)
            for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    return out;
}

const identity = () => new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

function perspective(angle, aspect, near, far) {
    const f = 1 / Math.tan(angle / 2), d = 1 / (near - far);
    return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) * d, -1,
        0, 0, 2 * far * near * d, 0]);
}

function lookAt(eye, target, up) {
    const z = unit(sub(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
    return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
        -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

// pose = position (3), quaternion (4)
function poseMatrix(p) {
    const length = Math.hypot(p[3], p[4], p[5], p[6]) || 1;
    const [w, x, y, z] = [p[3] / length, p[4] / length, p[5] / length, p[6] / length];
    return new Float32Array([
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
        2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
        2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
        p[0], p[1], p[2], 1]);
}

const transformPoint = (m, p) => [0, 1, 2].map(
    (r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
const axisOf = (m, k) => [m[4 * k], m[4 * k + 1], m[4 * k + 2]];

// Flattens onto the plane n·x = d along the unit direction l: x − l (n·x − d)/(n·l).
function shadowMatrix(n, d, l) {
    const s = 1 / dot(n, l), m = identity();
    for (let c = 0; c < 3; c++)
        for (let r = 0; r < 3; r++) m[4 * c + r] -= l[r] * n[c] * s;
    for (let r = 0; r < 3; r++) m[12 + r] = l[r] * d * s;
    return m;
}

// Where `time` lies among ascending times: the row before it and the fraction towards the next.
function locate(times, time) {
    let low = 0, high = times.length - 1;
    if (high <= 0 || time <= times[0]) return [0, 0];
    if (time >= times[high]) return [high, 0];
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= time) low = middle;
        else high = middle;
    }
    return [low, (time - times[low]) / (times[high] - times[low])];
}
