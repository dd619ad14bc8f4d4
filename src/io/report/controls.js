// The viewer's frame: mouse, touch and keys on the canvas, the transport bar, the list of layers.

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

const ICONS = {
    play: "M8 5v14l11-7z", pause: "M7 5h4v14H7zM13 5h4v14h-4z",
    home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
    full: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
    layers: "M12 4l9 5-9 5-9-5zM5 12.5l7 4 7-4 2 1.2-9 5-9-5z",
};

function icon(name) {
    return shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, shape("path", { d: ICONS[name] }));
}

function button(name, label, onclick) {
    return element("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick },
        icon(name));
}

// One finger or the left button turns, two fingers or another button (or Shift) move, wheel zooms.
function steer(canvas, viewer) {
    const pointers = new Map();
    canvas.addEventListener("pointerdown", (e) => {
        canvas.setPointerCapture(e.pointerId);
        pointers.set(e.pointerId, [e.clientX, e.clientY]);
        canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (e) => {
        const last = pointers.get(e.pointerId);
        if (!last) return;
        const dx = e.clientX - last[0], dy = e.clientY - last[1];
        const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
        if (others.length) {
            const far = (x, y) => Math.max(10, Math.hypot(x - others[0][0], y - others[0][1]));
            viewer.zoom(far(...last) / far(e.clientX, e.clientY));
            viewer.pan(dx / 2, dy / 2);
        } else if (e.shiftKey || e.buttons > 1) viewer.pan(dx, dy);
        else viewer.orbit(dx, dy);
        pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    for (const name of ["pointerup", "pointercancel"])
        canvas.addEventListener(name, (e) => pointers.delete(e.pointerId));
    canvas.addEventListener("wheel", (e) => {
        e.preventDefault();
        viewer.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.0025));
    }, { passive: false });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("dblclick", () => viewer.reset());
}

class Player {
    constructor(viewer) {
        const span = viewer.end - viewer.start;
        this.viewer = viewer;
        this.playing = false;
        this.speed = SPEEDS.findLast((s) => s <= 1 && span / s >= 2.5) || SPEEDS[0];
        this.listeners = [];
        let last = 0;
        const tick = (now) => {
            if (this.playing) {
                const next = viewer.time + this.speed * Math.min((now - last) / 1000, 0.1);
                viewer.setTime(next > viewer.end ? viewer.start : next);
            }
            last = now;
            if (viewer.dirty) {
                viewer.draw();
                this.listeners.forEach((f) => f());
            }
            requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
    }

    set(playing) {
        this.playing = playing && this.viewer.end > this.viewer.start;
        this.viewer.dirty = true;
    }

    // To the stored frame before or after the present one.
    step(direction) {
        const { times } = this.viewer.trajectories[0] || this.viewer.contacts[0];
        const [row, fraction] = locate(times, this.viewer.time);
        const next = direction > 0 ? row + 1 : fraction > 0 ? row : row - 1;
        this.set(false);
        this.viewer.setTime(times[Math.min(Math.max(next, 0), times.length - 1)]);
    }
}

function transport(viewer, player, frame) {
    const span = viewer.end - viewer.start || 1, digits = Math.max(0, Math.ceil(2 - Math.log10(span)));
    const play = button("play", "Play or pause (space)", () => player.set(!player.playing));
    const slider = element("input", { type: "range", class: "scrub", min: 0, max: 1000, step: "any", value: 0,
        "aria-label": "Time", oninput: () => {
            player.set(false);
            viewer.setTime(viewer.start + (slider.value / 1000) * span);
        } });
    const clock = element("output", { class: "clock" });
    const speed = element("select", { "aria-label": "Speed", title: "Speed",
        onchange: () => { player.speed = Number(speed.value); } },
        ...SPEEDS.map((s) => element("option", { value: s, selected: s === player.speed }, `${s}×`)));
    const full = button("full", "Full screen", () =>
        document.fullscreenElement ? document.exitFullscreen() : frame.requestFullscreen());
    let shownIcon = "play";
    player.listeners.push(() => {
        slider.value = (1000 * (viewer.time - viewer.start)) / span;
        clock.textContent = `${viewer.time.toFixed(digits)} s`;
        const wanted = player.playing ? "pause" : "play";
        if (wanted !== shownIcon) play.replaceChildren(icon((shownIcon = wanted)));
    });
    const still = viewer.end <= viewer.start;
    return element("div", { class: "transport" }, still ? [] : [play, slider, clock, speed],
        button("home", "Reset the view", () => viewer.reset()), document.fullscreenEnabled && full);
}

function check(label, checked, onchange, ...more) {
    const box = element("input", { type: "checkbox", checked, onchange: () => onchange(box.checked) });
    return element("label", { class: "check" }, box, ...more, element("span", {}, label));
}

function layerRow(viewer, item) {
    const redraw = (change) => { change(); viewer.dirty = true; };
    const colour = item.colour && element("input", { type: "color", value: item.colour, title: "Colour",
        "aria-label": `Colour of ${item.name}`, oninput: () => redraw(() => { item.colour = colour.value; }) });
    const opacity = item.surface && element("input", { type: "range", min: 0.1, max: 1, step: 0.05,
        value: item.opacity, title: "Opacity", "aria-label": `Opacity of ${item.name}`,
        oninput: () => redraw(() => { item.opacity = Number(opacity.value); }) });
    const edges = item.surface && element("button", { type: "button", class: "toggle",
        "aria-pressed": String(!!item.edges), title: "Mesh edges",
        "aria-label": `Mesh edges of ${item.name}`, onclick: () => redraw(() => {
            item.edges = !item.edges;
            edges.setAttribute("aria-pressed", String(item.edges));
        }) }, "▦");
    return element("div", { class: "layer" },
        check(item.name, item.visible, (on) => redraw(() => { item.visible = on; })), colour, opacity, edges);
}

// Also toggled by the key F, so the boxes follow the viewer.
function forceRows(viewer, player) {
    const redraw = (change) => { change(); viewer.dirty = true; };
    const row = (kind, label) => {
        const line = check(label, viewer.forces[kind], (on) => redraw(() => { viewer.forces[kind] = on; }));
        player.listeners.push(() => { line.firstChild.checked = viewer.forces[kind]; });
        return element("div", { class: "layer", title: "Key F shows or hides both" }, line,
            element("span", { class: "swatch", style: `background:${FORCE_COLOUR[kind]}` }));
    };
    const size = element("input", { type: "range", min: -2, max: 2, step: 0.1, value: 0,
        title: "Length of the arrows", "aria-label": "Length of the arrows",
        oninput: () => redraw(() => { viewer.forces.scale = 2 ** size.value; }) });
    const owners = viewer.trajectories.length > 1 ? viewer.contacts.map((c) => c.name).filter(Boolean) : [];
    const title = owners.length ? `Contact forces (${owners.join(", ")})` : "Contact forces";
    return [element("h3", {}, title), row("normal", "normal"), row("tangent", "tangential"),
        element("div", { class: "layer" },
            element("span", { class: "muted" }, `up to ${shown(viewer.forceLargest, 3)} N`), size)];
}

function layers(viewer, player) {
    return element("details", { class: "layers", open: window.innerWidth > 720 },
        element("summary", {}, icon("layers"), "Layers"),
        element("div", { class: "list" },
            viewer.trajectories.map((t) => layerRow(viewer, t)),
            viewer.points.length > 0 && element("h3", {}, "Observed"),
            viewer.points.map((p) => layerRow(viewer, p)),
            viewer.trajectories.some((t) => t.largest > 0) && element("div", { class: "layer" }, element("span",
                { class: "muted" }, `red: activations up to ${shown(Math.max(...viewer.trajectories.map((t) => t.largest)), 3)}`)),
            viewer.cables.length > 0 && element("div", { class: "layer" }, element("span", { class: "muted" },
                `cables: up to ${shown(Math.max(...viewer.cables.map((c) => c.largest)), 3)} N`)),
            viewer.forceLargest ? forceRows(viewer, player) : [],
            viewer.colliders.length > 0 && element("h3", {}, "Obstacles"),
            viewer.colliders.map((c) => layerRow(viewer, c)),
            viewer.trajectories.length > 0 && [element("h3", {}, "Camera"),
                check("follow the body", false, (on) => { viewer.follow = on; })]));
}

// The corner triad and the size of a grid cell.
function compass(viewer, player) {
    const axes = [["x", "#d55e00"], ["y", "#009e73"], ["z", "#0072b2"]].map(([name, colour]) => ({
        line: shape("line", { stroke: colour, "stroke-width": 2, "stroke-linecap": "round" }),
        label: shape("text", { fill: colour, "text-anchor": "middle", "dominant-baseline": "central" }, name),
    }));
    const svg = shape("svg", { class: "triad", viewBox: "-30 -30 60 60", "aria-hidden": "true" },
        ...axes.flatMap((a) => [a.line, a.label]));
    const planes = viewer.colliders.some((c) => !c.surface);
    const note = element("div", { class: "compass" }, svg,
        planes && element("span", {}, `grid ${metres(viewer.spacing)}`));
    player.listeners.push(() => {
        const { right, top } = viewer.axes();
        axes.forEach(({ line, label }, k) => {
            const x = 20 * right[k], y = -20 * top[k];
            line.setAttribute("x2", x);
            line.setAttribute("y2", y);
            label.setAttribute("x", 1.35 * x);
            label.setAttribute("y", 1.35 * y);
        });
    });
    return note;
}

function keys(canvas, viewer, player) {
    const turn = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
    canvas.addEventListener("keydown", (e) => {
        if (e.key === " ") player.set(!player.playing);
        else if (e.key === "," || e.key === ".") player.step(e.key === "." ? 1 : -1);
        else if (e.key === "+" || e.key === "=") viewer.zoom(0.9);
        else if (e.key === "-") viewer.zoom(1.1);
        else if (e.key === "Home") viewer.reset();
        else if (e.key === "f" || e.key === "F") viewer.toggleForces();
        else if (turn[e.key] && e.shiftKey) viewer.pan(...turn[e.key]);
        else if (turn[e.key]) viewer.orbit(...turn[e.key]);
        else return;
        e.preventDefault();
    });
}

// The whole figure; without WebGL it is a message instead.
function viewFigure(view, options) {
    const names = view.trajectories.map((t) => t.name).join(", ");
    const canvas = element("canvas", { tabindex: 0, role: "img", class: "stage",
        "aria-label": `3-D view of ${names}. Drag to turn, Shift-drag to move, wheel to zoom, ` +
            "space to play, comma and full stop to step, F for contact forces." });
    const frame = element("figure", { class: "view" }, canvas);
    let viewer;
    return { frame, start() {
        try {
            viewer = new Viewer(canvas, view);
        } catch (error) {
            frame.replaceChildren(element("p", { class: "missing" },
                "The 3-D view needs WebGL 2, which this browser does not offer. ",
                element("small", {}, error.message)));
            return null;
        }
        if (options.forces) Object.assign(viewer.forces, { normal: true, tangent: true });
        const player = new Player(viewer);
        frame.append(layers(viewer, player), compass(viewer, player), transport(viewer, player, frame));
        steer(canvas, viewer);
        keys(canvas, viewer, player);
        new ResizeObserver(() => { viewer.dirty = true; }).observe(canvas);
        canvas.addEventListener("webglcontextlost", () => {
            player.set(false);
            frame.append(element("p", { class: "missing" },
                "The browser dropped the 3-D view; reload the page."));
        });
        if (options.time !== undefined) viewer.setTime(options.time);
        viewer.draw();
        player.listeners.forEach((f) => f());
        player.set(options.time === undefined && !matchMedia("(prefers-reduced-motion: reduce)").matches);
        return viewer;
    } };
}
