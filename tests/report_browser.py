"""Opens the sample reports of a folder in headless Chromium and checks what they show.

    report_browser.py FOLDER     with full.html, view.html, fit.html and plot.svg in it

Exits with 0 when all is well, 1 when something is wrong, 77 when there is no Chromium. The pictures
it takes stay in the folder.
"""

import base64
import json
import os
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom
import zlib

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message)


def read_png(data, path):
    """Width, height, channels and the unfiltered rows of an 8-bit RGB or RGBA picture."""
    at, packed, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert zlib.crc32(kind + body) == crc, f"{path}: checksum of {kind}"
        header = struct.unpack(">IIBB", body[:10]) if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = header
    channels = {2: 3, 6: 4}[colour]
    assert depth == 8
    raw, stride, rows = zlib.decompress(packed), width * channels, []
    assert len(raw) == height * (stride + 1)
    previous = bytearray(stride)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        unfilter(kind, row, previous, channels)
        rows.append(row)
        previous = row
    return width, height, channels, rows


def unfilter(kind, row, above, step):
    for i in range(len(row) if kind else 0):
        a, b = (row[i - step] if i >= step else 0), above[i]
        c = above[i - step] if i >= step else 0
        if kind == 1:
            guess = a
        elif kind == 2:
            guess = b
        elif kind == 3:
            guess = (a + b) // 2
        else:
            p = a + b - c
            guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        row[i] = (row[i] + guess) & 255


def count_near(picture, rgb, tolerance):
    """How many pixels are near a colour."""
    _, _, channels, rows = picture
    (r, g, b), count = rgb, 0
    for row in rows:
        for x, y, z in zip(row[::channels], row[1::channels], row[2::channels]):
            count += abs(x - r) <= tolerance and abs(y - g) <= tolerance and abs(z - b) <= tolerance
    return count


def check_plot_texts(folder):
    document = xml.dom.minidom.parse(os.path.join(folder, "plot.svg"))
    texts = [node.firstChild.data for node in document.getElementsByTagName("text")]
    check("loss <&>" in texts and "μ ± σ" in texts, f"plot.svg's legend is wrong: {texts}")


class Browser:
    """One page of a headless browser, driven over its debugging pipe."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        there, self.write = os.pipe()
        self.read, back = os.pipe()

        def place_pipes():  # the browser reads commands from 3 and answers on 4
            high = [os.dup2(fd, to) for fd, to in ((there, 30), (back, 31))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle",
             "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=place_pipes)
        os.close(there)
        os.close(back)
        self.buffer, self.number, self.session, self.console = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.read, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser does not answer")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            answer = self.message(deadline)
            kind = answer.get("method")
            if kind in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                self.console.append(json.dumps(answer["params"])[:400])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def run(self, script):
        """The value of an expression in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def open(self, url, width, height, dark=False, ready="document.documentElement?.dataset.ready === 'yes'"):
        self.console.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while not self.run(ready):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{url} is not ready: {self.console}")
            time.sleep(0.05)
        return self.run("({...document.documentElement.dataset})")

    def picture(self, path, width, height, scale=0.5):
        """Keeps the window's picture as a file, and gives it back at half its size or another."""
        for size in (1, scale):
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": size}
            data = base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip)["data"])
            if size == 1:
                with open(path, "wb") as file:
                    file.write(data)
        return read_png(data, path)

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.profile.cleanup()


# Uses the page as a reader would; gives back how many bytes of the view's picture each act changed.
EXERCISE = r"""(async () => {
    const seen = {}, canvas = document.querySelector(".stage"), gl = canvas.getContext("webgl2");
    const pixels = () => {
        const out = new Uint8Array(4 * canvas.width * canvas.height);
        gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, out);
        return out;
    };
    const differ = (a, b) => a.reduce((n, x, i) => n + (Math.abs(x - b[i]) > 8), 0);
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const pointer = (target, type, x, y) => target.dispatchEvent(new PointerEvent(type,
        { bubbles: true, clientX: x, clientY: y, pointerId: 1, buttons: 1 }));
    const key = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
    canvas.setPointerCapture = () => {};
    await frame();
    let last = pixels();
    const changed = async (name, act) => {
        await act();
        await frame();
        const now = pixels();
        seen[name] = differ(last, now);
        last = now;
    };
    await changed("still", () => {});
    await changed("orbit", () => {
        pointer(canvas, "pointerdown", 300, 300);
        pointer(canvas, "pointermove", 340, 310);
        pointer(canvas, "pointerup", 340, 310);
    });
    await changed("zoom", () => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -60, cancelable: true })));
    await changed("pan", () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", shiftKey: true })));
    const scrub = document.querySelector(".scrub");
    await changed("scrub", () => {
        scrub.value = 290;
        scrub.dispatchEvent(new Event("input"));
    });
    seen.clock = document.querySelector(".clock").textContent;
    key(".");
    await frame();
    seen.step = document.querySelector(".clock").textContent;
    last = pixels();
    const boxes = [...document.querySelectorAll(".layers input[type=checkbox]")];
    const box = (text) => boxes.find((b) => b.parentElement.textContent === text);
    await changed("hide", () => box("fitted").click());
    await changed("show", () => box("fitted").click());
    await changed("normal", () => box("normal").click());
    await changed("tangential", () => box("tangential").click());
    await changed("forcesOff", () => key("f"));
    seen.boxes = box("normal").checked || box("tangential").checked;
    await changed("forcesOn", () => key("f"));
    seen.boxes = !seen.boxes && box("normal").checked && box("tangential").checked;
    box("fitted").click(); // its forces go with it
    await frame();
    last = pixels();
    await changed("forcesHidden", () => key("f"));
    key("f");
    box("fitted").click();
    await frame();
    last = pixels();
    await changed("stone", () => box("stone").click());
    await changed("edges", () => document.querySelector(".layer .toggle").click());
    await changed("play", async () => {
        key(" ");
        await new Promise((done) => setTimeout(done, 300));
        key(" ");
    });
    const plots = document.querySelectorAll(".chart .plot svg"), area = plots[1].getBoundingClientRect();
    pointer(plots[1], "pointermove", area.right - 14, area.top + 50);
    seen.tip = document.querySelectorAll(".chart .tip")[1].textContent;
    const error = document.querySelectorAll(".group")[2].querySelector(".chart path.line");
    seen.runs = error.getAttribute("d").match(/M/g).length;
    document.querySelector(".legend button").click();
    seen.hidden = plots.length && document.querySelectorAll(".chart")[1].querySelectorAll("path.line").length;
    seen.title = document.querySelector("h1").textContent;
    return seen;
})()"""


def check_exercise(browser, page):
    root = browser.open(page + "#t=0.2", 1000, 700)
    expected = {"webgl": "2", "trajectories": "3", "colliders": "6", "triangles": "5520", "charts": "8", "tables": "4"}
    for name, value in expected.items():
        check(root.get(name) == value, f"data-{name} is {root.get(name)}, expected {value}")
    seen = browser.run(EXERCISE)
    check(not browser.console, f"console messages: {browser.console}")
    check(seen["still"] == 0, f"a paused view changed {seen['still']} bytes")
    for name in ("orbit", "zoom", "pan", "scrub", "hide", "show", "normal", "tangential", "forcesOff",
                 "forcesOn", "stone", "edges", "play"):
        check(seen[name] > 200, f"{name} changed {seen[name]} bytes of the picture")
    check(seen["forcesHidden"] == 0, f"forces of a hidden body changed {seen['forcesHidden']} bytes")
    check(seen["boxes"], "the boxes of the forces do not follow the key")
    check(seen["clock"] == "0.35 s" and seen["step"] == "0.35 s", f"clock: {seen['clock']}, {seen['step']}")
    check("iteration 13" in seen["tip"] and "124990" in seen["tip"], f"read-out: {seen['tip']}")
    check(seen["runs"] == 2, f"the missing value makes {seen['runs']} runs, expected 2")
    check(seen["hidden"] == 0, "a click on the legend does not hide the line")
    check("<script>throw 1</script>" in seen["title"], f"the title is {seen['title']}")


def check_pictures(browser, page, folder):
    for name, width, dark in (("light", 1280, False), ("dark", 1280, True), ("narrow", 420, False)):
        browser.open(page + "#t=0.42", width, 1000, dark)
        check(not browser.console, f"{name}: console messages: {browser.console}")
        picture = browser.picture(os.path.join(folder, name + ".png"), width, 1000)
        body = sum(count_near(picture, rgb, 26) for rgb in ((20, 100, 150), (10, 80, 120), (40, 130, 175)))
        check(body > 400, f"{name}: the fitted body shows on {body} pixels only")
        back = (0x12, 0x16, 0x1B) if dark else (0xF6, 0xF7, 0xF9)
        check(count_near(picture, back, 1) > 5000, f"{name}: the theme's background is missing")
        wide = browser.run("document.documentElement.scrollWidth - innerWidth")
        check(wide <= 0, f"{name}: the page is {wide} px too wide")


def check_fit(browser, page, folder):
    """A fit's own report: obstacles of all kinds, what was observed, and the fitted motion's forces when asked for."""
    root = browser.open(page + "#t=0.3", 1280, 900)
    check(root["trajectories"] == "3" and root["colliders"] == "3" and root["points"] == "2", f"fit: {root}")
    labels = browser.run("[...document.querySelectorAll('.layers label, .layers h3')].map((e) => e.textContent)")
    for label in ("fitted", "initial guess", "target", "floor", "stone", "block", "Contact forces (fitted)", "Observed",
                  "markers", "point cloud"):
        check(label in labels, f"fit: {label} is not among the layers: {labels}")
    arrows = []
    for name in ("fit", "fit-forces"):
        picture = browser.picture(os.path.join(folder, name + ".png"), 1280, 900)
        arrows.append(count_near(picture, (0xD8, 0xAF, 0x05), 40))
        browser.run("document.querySelector('.stage').dispatchEvent(new KeyboardEvent('keydown', {key: 'f'}))")
    check_observed(browser)
    check(arrows[1] > arrows[0] + 150, f"fit: arrows show on {arrows[1]} pixels, {arrows[0]} without them")
    check(not browser.console, f"fit: console messages: {browser.console}")


# How many bytes of the view hiding a layer changes, at the time its data are of and at another.
HIDE = r"""(async (name, share) => {
    const canvas = document.querySelector(".stage"), gl = canvas.getContext("webgl2");
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const pixels = async () => {
        await frame();
        const out = new Uint8Array(4 * canvas.width * canvas.height);
        gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, out);
        return out;
    };
    const scrub = document.querySelector(".scrub");
    scrub.value = 1000 * share;
    scrub.dispatchEvent(new Event("input"));
    const box = [...document.querySelectorAll(".layers label")].find((e) => e.textContent === name).firstChild;
    const before = await pixels();
    box.click();
    const after = await pixels();
    box.click();
    return before.reduce((sum, x, i) => sum + Math.abs(x - after[i]), 0);
})"""


def check_observed(browser):
    """Markers and clouds are seen, and more plainly at their own time (markers: 0.3 of 0.4 s; cloud: the end)."""
    for name, own, other in (("markers", 0.75, 0.6), ("point cloud", 1, 0.5)):
        plain, pale = (browser.run(f"{HIDE}({name!r}, {share})") for share in (own, other))
        check(plain > 10000, f"fit: hiding the {name} changes the picture by {plain}")
        check(0.1 * plain < pale < 0.8 * plain, f"fit: the {name} at another time change it by {pale}, not {plain}")


def check_view_alone(browser, page):
    root = browser.open(page + "#t=0.2", 900, 600)
    check(root["triangles"] == "1840" and root["charts"] == "0", f"view alone: {root}")
    extent = browser.run("document.querySelector('.view').getBoundingClientRect().height")
    check(extent == 600, f"view alone: it is {extent} px high in a window of 600")
    check(browser.run("document.querySelector('header') === null"), "view alone: there is a header")
    check(not browser.console, f"view alone: console messages: {browser.console}")
    browser.call("Page.addScriptToEvaluateOnNewDocument",
                 source="HTMLCanvasElement.prototype.getContext = () => null")
    root = browser.open(page, 900, 600)
    text = browser.run("document.body.innerText")
    check(root["webgl"] == "none" and "needs WebGL 2" in text, f"without WebGL the page says: {text}")


def check_driven(browser, page, folder):
    """At the start a plain body and a grey cable; in the end the muscle and the cable are red."""
    seen = []
    for time in (0, 0.1):
        root = browser.open(f"{page}?{time}#t={time}", 900, 600)
        check(root["cables"] == "1", f"driven: {root}")
        check(not browser.console, f"driven: console messages: {browser.console}")
        picture = browser.picture(os.path.join(folder, f"driven{time}.png"), 900, 600, scale=1)
        seen.append([count_near(picture, rgb, 24) for rgb in ((165, 30, 25), (190, 38, 30), (125, 129, 136))])
    (dark, red, grey), later = seen
    check(dark + red < 20 and grey > 200, f"driven: red on {dark} and {red} pixels at the start, grey on {grey}")
    check(later[0] + later[1] > 4000 and grey - later[2] > 300, f"driven: in the end {later}, at the start {seen[0]}")
    text = browser.run("document.body.innerText")
    check("activations up to 0.25" in text and "cables: up to" in text, f"driven: the layers say {text}")


def check_plot(browser, url, folder):
    browser.open(url, 640, 400, ready="document.readyState === 'complete' && document.querySelector('circle') !== null")
    picture = browser.picture(os.path.join(folder, "plot.png"), 640, 400, scale=1)
    pixels = picture[0] * picture[1]
    check(count_near(picture, (255, 255, 255), 0) > 0.8 * pixels, "plot.svg is not mostly white")
    for name, colour in (("first line", (0x00, 0x72, 0xB2)), ("second line", (0xD5, 0x5E, 0x00))):
        seen = count_near(picture, colour, 8)
        check(seen > 300, f"plot.svg shows its {name} on {seen} pixels only")


def main():
    folder = os.path.abspath(sys.argv[1])
    check_plot_texts(folder)
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        print("report_browser: no Chromium found, only the plot's texts were checked")
        return 1 if failures else 77
    browser = Browser(program)
    try:
        check_exercise(browser, f"file://{folder}/full.html")
        check_pictures(browser, f"file://{folder}/full.html", folder)
        check_fit(browser, f"file://{folder}/fit.html", folder)
        check_driven(browser, f"file://{folder}/driven.html", folder)
        check_view_alone(browser, f"file://{folder}/view.html")
        check_plot(browser, f"file://{folder}/plot.svg", folder)
    finally:
        browser.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
