#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The page in a headless Firefox, over Marionette: that it opens there, draws, and has the numbers of dump.

    firefox.py PAGE SLICES      of `dump --slices`; whatever is not so is printed, and the exit status is 1
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Firefox:
    """Messages are LENGTH:[kind, number, command or error, parameters or result]."""

    def __init__(self, width=1400, height=860):
        self.profile, port = tempfile.mkdtemp(), free_port()
        with open(self.profile + "/user.js", "w") as file:
            file.write(f'user_pref("marionette.port", {port});\nuser_pref("app.update.enabled", false);\n')
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--profile", self.profile, f"--width={width}", f"--height={height}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile})
        self.socket, self.buffer, self.number = self.connect(port), b"", 0
        self.message()
        self.call("WebDriver:NewSession")

    @staticmethod
    def connect(port):
        for _ in range(3000):
            try:
                return socket.create_connection(("127.0.0.1", port), 300)
            except OSError:
                time.sleep(.1)
        raise TimeoutError("Firefox does not listen")

    def message(self):
        while b":" not in self.buffer or len(self.buffer) < self.buffer.index(b":") + 1 + int(self.buffer.split(b":", 1)[0]):
            got = self.socket.recv(1 << 16)
            if not got:
                raise EOFError("Firefox is gone")
            self.buffer += got
        size, rest = self.buffer.split(b":", 1)
        text, self.buffer = rest[:int(size)], rest[int(size):]
        return json.loads(text)

    def call(self, command, **params):
        self.number += 1
        text = json.dumps([0, self.number, command, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.message()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def script(self, text):
        return self.call("WebDriver:ExecuteScript", script=text, args=[])["value"]

    def value(self, expression):
        """Asked by a script of the page's own, since ours sees no arrays there."""
        asked = f"{{ const page = trailcam, {{chart, trace}} = page; document.body.dataset.told = JSON.stringify({expression}); }}"
        return json.loads(self.script(f"const script = document.createElement('script'); script.textContent = {json.dumps(asked)}; "
                                      "document.body.append(script); script.remove(); return document.body.dataset.told"))

    def open(self, path):
        self.call("WebDriver:Navigate", url="file://" + path)
        for _ in range(3000):
            if self.script("return document.documentElement.dataset.ready"):
                return
            time.sleep(.1)
        raise TimeoutError(self.script("return document.body.innerText"))

    def key(self, key):
        actions = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def screenshot(self, path):
        import base64
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False, hash=False)["value"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def read_slices(path):
    with open(path) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(int(row[0]), int(row[1]), row[3].removesuffix(" [inferred start time]")) for row in rows if int(row[2]) >= 0]


def main():
    path, slices_path, *shot = sys.argv[1:]
    slices, firefox, failed = read_slices(slices_path), Firefox(), []

    def check(name, ok, *detail):
        print(f"{'ok' if ok else 'not ok'} - Firefox: {name}", *([] if ok else detail))
        if not ok:
            failed.append(name)

    try:
        firefox.open(path)
        got = firefox.value("trace.threads.flatMap(t => Array.from(t.start, (start, i) => [start, t.end(i), trace.name(t, i)]))")
        check("the calls are those of dump", sorted(map(tuple, got)) == sorted(slices), got[:3], slices[:3])
        colours = firefox.value("new Set(chart.context.getImageData(0, 0, chart.canvas.width, chart.canvas.height).data).size")
        check("they are drawn", colours > 20, colours)
        before = firefox.value("chart.span")
        firefox.key("w")
        check("w zooms in", firefox.value("chart.span") < before, before)
        firefox.key("0")
        firefox.key("g")
        total = firefox.value("page.flame.paths.total[0]")
        outer = firefox.value("trace.threads.reduce((sum, t) => sum + t.rows[0].reduce((sum, i) => sum + t.duration[i], 0), 0)")
        check("the flame graph has all the time", firefox.value("page.flame.isOpen") and total == outer, total, outer)
        if shot:
            firefox.screenshot(shot[0])
    finally:
        firefox.close()
    sys.exit(bool(failed))


main()
