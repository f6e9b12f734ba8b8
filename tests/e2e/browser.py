# SPDX-License-Identifier: BSD-2-Clause
# A headless Chromium, driven over its debugging pipe (fds 3 and 4, JSON messages that end in NUL).
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
         "--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"]


class Browser:
    def __init__(self, width=1400, height=800):
        self.profile = tempfile.mkdtemp()
        to_read, self.to_fd = os.pipe()
        self.from_fd, from_write = os.pipe()

        def fds():
            kept = os.dup(to_read), os.dup(from_write)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=fds, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        self.size, self.tab = {"width": width, "height": height}, None
        self.new_tab()

    def new_tab(self):
        """A new tab in place of the one before, of which it knows nothing."""
        self.session, before = None, self.tab
        self.tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        if before:
            self.call("Target.closeTarget", targetId=before)
        self.session = self.call("Target.attachToTarget", targetId=self.tab, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", **self.size, deviceScaleFactor=1, mobile=False)

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, seconds=300):
        while b"\0" not in self.buffer:
            if not select.select([self.from_fd], [], [], seconds)[0]:
                raise TimeoutError("the browser says nothing")
            got = os.read(self.from_fd, 1 << 16)
            if not got:
                raise EOFError("the browser is gone")
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to_fd, data):]
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url, wait=True):
        """Opens the page and waits until it is ready."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        for _ in range(6000 if wait else 0):
            if self.value("document.documentElement?.dataset.ready === 'true'"):
                return
            time.sleep(0.05)
        if wait:
            raise TimeoutError(self.value("document.body.innerText"))

    def settle(self):
        """Waits for the next frame to be drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key, **more):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.drag(x, y, x, y)

    def drag(self, x, y, to_x, to_y, modifiers=0):
        self.mouse("mouseMoved", x, y, modifiers=modifiers)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        if (x, y) != (to_x, to_y):
            self.mouse("mouseMoved", (x + to_x) / 2, (y + to_y) / 2, button="left", buttons=1, modifiers=modifiers)
            self.mouse("mouseMoved", to_x, to_y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, delta_y, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta_y, modifiers=modifiers)
        self.settle()

    def screenshot(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def complaints(self):
        """Errors on the console, and requests beyond the page itself."""
        self.value("1")
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown" or \
                    method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning") or \
                    method == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(json.dumps(params)[:500])
            elif method == "Network.requestWillBeSent" and \
                    not (params["type"] == "Document" and params["request"]["url"].startswith("file:")) and \
                    not params["request"]["url"].startswith("data:"):
                found.append("request: " + params["request"]["url"])
        return found
