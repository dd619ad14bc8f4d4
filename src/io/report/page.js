// Puts the page together from its data: headline, view, sections. #t=0.3 opens it paused at a time,
// #theme=dark|light fixes the theme, #forces shows contact forces.

const isNumber = (s) => /^[-−+]?[\d.,]+(e[-+]?\d+|×10\S+)?( ?%)?$/.test(s) || s === "–" || s === "";

function card(title, ...content) {
    return element("section", { class: "card" }, title && element("h3", {}, title), ...content);
}

function table(item) {
    const { columns, rows } = item;
    const numeric = columns.map((_, c) => rows.every((r) => isNumber(r[c])) && rows.some((r) => r[c]));
    const used = columns.map((_, c) => !rows.length || rows.some((r) => r[c] && r[c] !== "–"));
    const cells = (tag, values) => values.map((v, c) => used[c] &&
        element(tag, { class: numeric[c] ? "number" : null, scope: tag === "th" ? "col" : null }, v));
    const node = card(item.title, element("div", { class: "scroll" }, element("table", {},
        element("thead", {}, element("tr", {}, cells("th", columns))),
        element("tbody", {}, rows.map((r) => element("tr", {}, cells("td", r)))))));
    if (columns.length > 4) node.classList.add("wide");
    return node;
}

function bars(item) {
    const total = item.values.reduce((s, v) => s + (v || 0), 0);
    const largest = Math.max(...item.values.map((v) => v || 0)) || 1;
    return card(item.title, element("div", { class: "bars" }, item.names.map((name, i) => {
        const v = item.values[i];
        return [element("span", { class: "label" }, name),
            element("span", { class: "track" },
                element("span", { class: "bar", style: `width:${(100 * (v || 0)) / largest}%` })),
            element("span", { class: "number" }, `${shown(v, 3)} ${item.unit || ""}`),
            element("span", { class: "number muted" },
                total > 0 && v !== null ? `${((100 * v) / total).toFixed(1)} %` : "")];
    })));
}

// Orange for positive, blue for negative: told apart by every reader, and the number is there too.
function matrix(item) {
    const n = item.names.length;
    const cell = (v) => {
        if (v === null) return element("td", {}, "–");
        const share = Math.round(100 * Math.min(Math.abs(v), 1) * 0.75);
        const mix = `color-mix(in srgb, ${v < 0 ? "#0072b2" : "#e69f00"} ${share}%, transparent)`;
        return element("td", { style: `background:${mix}` }, v.toFixed(2).replace(/^-/, "−"));
    };
    const node = card(item.title, element("div", { class: "scroll" }, element("table", { class: "matrix" },
        element("thead", {}, element("tr", {}, element("td", {}),
            item.names.map((s) => element("th", { scope: "col" }, s)))),
        element("tbody", {}, item.names.map((s, r) => element("tr", {}, element("th", { scope: "row" }, s),
            item.values.slice(n * r, n * r + n).map(cell)))))));
    node.classList.add("square");
    return node;
}

function buildItem(item) {
    if (item.kind === "plot") return new Chart(item).figure;
    return { table, bars, matrix }[item.kind](item);
}

function buildSection(s) {
    const curves = s.items.some((i) => i.kind === "plot");
    return element("section", { class: "group" }, s.title && element("h2", {}, s.title),
        s.note && element("p", { class: "muted" }, s.note),
        element("div", { class: curves ? "cards" : "cards mixed" }, s.items.map(buildItem)));
}

function themeButton(apply) {
    const next = { auto: "light", light: "dark", dark: "auto" };
    let now = "auto";
    return element("button", { type: "button", class: "theme", title: "Theme",
        onclick: () => apply((now = next[now])) }, "◐");
}

function buildPage(data) {
    const options = Object.fromEntries(location.hash.slice(1).split("&").map((s) => s.split("=")));
    const root = document.documentElement, page = document.getElementById("page");
    const sections = data.sections.filter((s) => s.items.length);
    const viewing = data.view.trajectories.length + data.view.contacts.length > 0;
    const bare = viewing && !sections.length && !data.headline && !data.facts.length;
    const view = viewing && viewFigure(data.view, { forces: "forces" in options,
        time: options.t === undefined ? undefined : Number(options.t) });
    let viewer = null;
    const theme = (name) => {
        if (name === "auto") delete root.dataset.theme;
        else root.dataset.theme = name;
        if (viewer) viewer.setTheme();
    };
    const toggle = themeButton(theme);
    if (options.theme) theme(options.theme);
    root.classList.toggle("bare", bare);
    page.replaceChildren(...[
        !bare && element("header", {}, element("div", { class: "top" }, element("h1", {}, data.title), toggle),
            data.subtitle && element("p", { class: "subtitle" }, data.subtitle),
            data.headline && element("p", { class: data.failed ? "headline failed" : "headline" },
                data.headline),
            data.facts.length > 0 && element("dl", { class: "facts" }, data.facts.map((f) =>
                element("div", {}, element("dt", {}, f.label), element("dd", {}, f.value),
                    f.note && element("dd", { class: "note" }, f.note))))),
        view && view.frame,
        ...sections.map(buildSection),
        !bare && element("footer", {}, `Pliant ${data.version}`)].filter(Boolean));
    viewer = view && view.start();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => viewer && viewer.setTheme());
    Object.assign(root.dataset, { webgl: viewer ? "2" : "none", triangles: viewer ? viewer.triangleCount : 0,
        trajectories: data.view.trajectories.length, colliders: data.view.colliders.length, points: data.view.points.length,
        cables: data.view.cables.length,
        charts: document.querySelectorAll(".chart").length, tables: document.querySelectorAll("table").length,
        ready: "yes" });
}

window.addEventListener("error", (e) => { document.documentElement.dataset.error = e.message; });
buildPage(JSON.parse(document.getElementById("data").textContent));
