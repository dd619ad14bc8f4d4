// Small helpers that build the page. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
        else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
    return node;
}

function element(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

function shape(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

// base64 to a typed array; the numbers inside are little-endian, as every browser's are.
function decode(text, Type) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Type(bytes.buffer);
}

// A number for people: at most `digits` significant ones, powers of ten as ×10ⁿ.
function shown(x, digits = 4) {
    if (x === null || x === undefined || !isFinite(x)) return "–";
    const size = Math.abs(x);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
        const [m, e] = x.toExponential(digits - 1).split("e");
        const mantissa = String(Number(m));
        const power = "10" + superscript(Number(e));
        return (mantissa === "1" ? power : mantissa === "-1" ? "−" + power : mantissa + "×" + power)
            .replace(/^-/, "−");
    }
    return String(Number(x.toPrecision(digits))).replace(/^-/, "−");
}

function superscript(n) {
    return String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
}

// A length for people.
function metres(x) {
    for (const [unit, size] of [["km", 1e3], ["m", 1], ["cm", 1e-2], ["mm", 1e-3]])
        if (x >= size * 0.999) return `${shown(x / size, 3)} ${unit}`;
    return `${shown(x * 1e6, 3)} µm`;
}
