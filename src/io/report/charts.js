// Curves as SVG: axes, ticks, legend (click to hide a line), read-out under the pointer or by arrow
// keys. A value that is missing, or not positive on a log axis, is a gap.

// Round numbers that divide [low, high] into about `count` steps.
function linearTicks(low, high, count) {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
    const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function logTicks(low, high, count) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    const stride = Math.max(1, Math.ceil((last - first + 1) / count)), ticks = [];
    for (let e = Math.ceil(first / stride) * stride; e <= last; e += stride) ticks.push(10 ** e);
    if (ticks.length > 1) return ticks;
    return linearTicks(low, high, count).filter((t) => t > 0);
}

// From data to [from, to] pixels.
function axis(values, log, from, to, count) {
    const good = values.filter((v) => v !== null && isFinite(v) && (!log || v > 0));
    let [low, high] = good.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    if (!good.length) [low, high] = log ? [0.1, 1] : [0, 1];
    const f = log ? Math.log10 : (x) => x, back = log ? (x) => 10 ** x : (x) => x;
    [low, high] = [f(low), f(high)];
    const pad = high > low ? 0.05 * (high - low) : log ? 0.5 : 0.05 * Math.abs(low) || 1;
    return { from, to, low: low - pad, high: high + pad, log,
        valid: (x) => x !== null && x !== undefined && (!log || x > 0),
        at(x) { return this.from + ((f(x) - this.low) / (this.high - this.low)) * (this.to - this.from); },
        ticks() { return (log ? logTicks : linearTicks)(back(this.low), back(this.high), count); } };
}

// Tick labels share their digits, and a power of ten when they are very large or small.
function tickLabels(ticks, log) {
    if (log) {
        const powers = ticks.map(Math.log10), whole = powers.every((e) => Math.abs(e - Math.round(e)) < 1e-9);
        return ticks.map((t, i) => (whole ? "10" + superscript(Math.round(powers[i])) : shown(t, 2)));
    }
    const largest = Math.max(...ticks.map(Math.abs));
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : largest || 1;
    if (largest >= 1e6 || (largest > 0 && largest < 1e-3))
        return ticks.map((t) => (t === 0 ? "0" : shown(t, 3)));
    const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
    return ticks.map((t) => t.toFixed(decimals).replace(/^-/, "−"));
}

class Chart {
    constructor(item) {
        this.item = item;
        this.lines = item.lines.map((l) => ({ ...l, x: l.x || l.y.map((_, i) => i), visible: true }));
        this.tip = element("div", { class: "tip", hidden: true });
        this.plot = element("div", { class: "plot" });
        this.figure = element("figure", { class: "card chart" },
            element("figcaption", {}, element("h3", {}, item.title || ""), this.csvButton()),
            this.plot, this.legend(), this.tip);
        new ResizeObserver(() => this.draw()).observe(this.plot);
    }

    // The data as a file; made when asked for.
    csvButton() {
        const save = () => {
            const cell = (s) => `"${String(s ?? "").replace(/"/g, '""')}"`;
            const row = (l, y, i) => [cell(l.name), l.level ? "" : l.x[i], y ?? ""].join(",");
            const rows = this.lines.flatMap((l) => l.y.map((y, i) => row(l, y, i)));
            const text = ["line,x,y", ...rows].join("\n") + "\n";
            const name = (this.item.title || "curve").replace(/[^\p{L}\p{N}]+/gu, "-");
            const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
            element("a", { download: `${name}.csv`, href }).click();
            URL.revokeObjectURL(href);
        };
        return element("button", { type: "button", class: "csv", title: "Save the values as CSV",
            onclick: save }, "CSV");
    }

    legend() {
        const named = this.lines.filter((l) => l.name);
        if (named.length < 2) return null;
        return element("div", { class: "legend" }, named.map((line) => {
            const key = element("button", { type: "button", "aria-pressed": "true", onclick: () => {
                line.visible = !line.visible;
                key.setAttribute("aria-pressed", String(line.visible));
                this.draw();
            } }, shape("svg", { viewBox: "0 0 24 10", "aria-hidden": "true" },
                shape("line", { class: "line", x1: 1, x2: 23, y1: 5, y2: 5, style: `--c:${line.colour}`,
                    "stroke-dasharray": line.dashed ? "6 4" : null })), line.name);
            return key;
        }));
    }

    draw() {
        const width = Math.max(this.plot.clientWidth, 200);
        const height = Math.round(Math.min(300, Math.max(200, 0.55 * width)));
        const item = this.item, shownLines = this.lines.filter((l) => l.visible);
        const y = axis(shownLines.flatMap((l) => l.y.flatMap((v, i) =>
            l.error && v !== null ? [v - l.error[i], v + l.error[i]] : [v])), item.logY, height - 40, 12, 5);
        const labels = tickLabels(y.ticks(), item.logY);
        const left = 16 + 6.6 * Math.max(2, ...labels.map((s) => s.length)) + (item.yLabel ? 16 : 0);
        const x = axis(shownLines.filter((l) => !l.level).flatMap((l) => l.x), item.logX, left, width - 12,
            Math.max(3, Math.round(width / 90)));
        if (!item.logX) { // the first and last points sit near the frame
            const pad = (0.035 / 1.1) * (x.high - x.low);
            x.low += pad;
            x.high -= pad;
        }
        Object.assign(this, { x, y, width, height });
        const names = shownLines.map((l) => l.name).filter(Boolean).join(", ");
        const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img",
            "aria-label": `${item.title || "Curve"}: ${names}` },
            this.frame(labels), shownLines.map((l) => this.line(l)));
        this.cursor = shape("g", { class: "cursor", visibility: "hidden" });
        svg.append(this.cursor);
        svg.addEventListener("pointermove", (e) => this.point(e.clientX - svg.getBoundingClientRect().left));
        svg.addEventListener("pointerleave", () => this.hide());
        svg.addEventListener("blur", () => this.hide());
        svg.addEventListener("keydown", (e) => this.key(e));
        this.plot.replaceChildren(svg);
        this.hide();
    }

    frame(labels) {
        const { x, y, item } = this, parts = [];
        y.ticks().forEach((t, i) => parts.push(
            shape("line", { class: "gridline", x1: x.from, x2: x.to, y1: y.at(t), y2: y.at(t) }),
            shape("text", { x: x.from - 8, y: y.at(t), "text-anchor": "end", "dominant-baseline": "central" },
                labels[i])));
        let ticks = x.ticks();
        if (!x.log && this.lines.every((l) => l.level || l.x.every(Number.isInteger)))
            ticks = ticks.filter(Number.isInteger);
        tickLabels(ticks, x.log).forEach((label, i) => parts.push(
            shape("line", { class: "gridline", x1: x.at(ticks[i]), x2: x.at(ticks[i]), y1: y.from, y2: y.to }),
            shape("text", { x: x.at(ticks[i]), y: y.from + 16, "text-anchor": "middle" }, label)));
        parts.push(shape("path", { class: "axis", d: `M${x.from} ${y.to}V${y.from}H${x.to}` }));
        if (item.xLabel)
            parts.push(shape("text", { x: x.to, y: y.from + 33, "text-anchor": "end" }, item.xLabel));
        if (item.yLabel) {
            const middle = (y.from + y.to) / 2;
            parts.push(shape("text", { x: 12, y: middle, "text-anchor": "middle",
                transform: `rotate(-90 12 ${middle})` }, item.yLabel));
        }
        return shape("g", {}, parts);
    }

    line(l) {
        const { x, y } = this, style = `--c:${l.colour}`;
        const look = { class: "line", style, "stroke-dasharray": l.dashed ? "7 5" : null };
        if (l.level) {
            const at = y.valid(l.y[0]) && y.at(l.y[0]);
            return at && shape("line", { ...look, x1: x.from, x2: x.to, y1: at, y2: at });
        }
        let path = "", pen = false;
        const extras = [];
        l.y.forEach((value, i) => {
            const good = y.valid(value) && x.valid(l.x[i]);
            if (good) {
                const px = x.at(l.x[i]).toFixed(2), py = y.at(value).toFixed(2);
                path += `${pen ? "L" : "M"}${px} ${py}`;
                const alone = !pen && !y.valid(l.y[i + 1]); // between two gaps: a dot, or it would not show
                if (l.markers || alone)
                    extras.push(shape("circle", { class: "dot", cx: px, cy: py, r: 2.6, style }));
                if (l.error && l.error[i] > 0) extras.push(this.errorBar(l, i));
            }
            pen = good;
        });
        return shape("g", {}, shape("path", { ...look, d: path || "M0 0" }), extras);
    }

    errorBar(l, i) {
        const { x, y } = this, px = x.at(l.x[i]), top = y.at(l.y[i] + l.error[i]);
        const low = l.y[i] - l.error[i], bottom = y.valid(low) ? y.at(low) : y.from;
        return shape("path", { class: "error", style: `--c:${l.colour}`,
            d: `M${px - 4} ${top}h8m-4 0V${bottom}m-4 0h8` });
    }

    // Every x that occurs, ascending.
    stops() {
        return [...new Set(this.lines.filter((l) => !l.level && l.visible).flatMap((l) => l.x))]
            .filter((v) => this.x.valid(v)).sort((a, b) => a - b);
    }

    point(px) {
        const stops = this.stops();
        if (!stops.length) return;
        const far = (v) => Math.abs(this.x.at(v) - px);
        this.select(stops.reduce((best, v) => (far(v) < far(best) ? v : best)));
    }

    key(e) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key], stops = this.stops();
        if (!step || !stops.length) return;
        e.preventDefault();
        const now = this.selected === undefined ? (step > 0 ? -1 : stops.length) : stops.indexOf(this.selected);
        this.select(stops[Math.min(Math.max(now + step, 0), stops.length - 1)]);
    }

    select(value) {
        const { x, y, tip } = this, px = x.at(value);
        this.selected = value;
        this.cursor.replaceChildren(shape("line", { x1: px, x2: px, y1: y.from, y2: y.to }));
        const rows = this.lines.filter((l) => l.visible).map((l) => {
            const v = l.level ? l.y[0] : l.y[l.x.indexOf(value)];
            if (v === undefined) return null;
            const look = { class: "dot", style: `--c:${l.colour}` };
            if (y.valid(v)) this.cursor.append(shape("circle", { ...look, cx: px, cy: y.at(v), r: 4 }));
            return element("div", {}, element("i", look), `${l.name || ""} `, element("b", {}, shown(v, 6)));
        });
        this.cursor.setAttribute("visibility", "visible");
        tip.replaceChildren(element("div", { class: "muted" }, `${this.item.xLabel || "x"} ${shown(value, 6)}`),
            ...rows.filter(Boolean));
        tip.hidden = false;
        const right = px > this.width / 2;
        tip.style.left = right ? "auto" : `${this.plot.offsetLeft + px + 14}px`;
        tip.style.right = right ? `${this.figure.clientWidth - this.plot.offsetLeft - px + 14}px` : "auto";
        tip.style.top = `${this.plot.offsetTop + 12}px`;
    }

    hide() {
        this.selected = undefined;
        this.tip.hidden = true;
        this.cursor.setAttribute("visibility", "hidden");
    }
}
