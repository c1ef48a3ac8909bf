"""Drives a Chromium through its DevTools protocol over a pipe, with the standard library alone."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless",
    "--no-sandbox",  # so that root can start it
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "about:blank",
]
COMMANDS, ANSWERS = 3, 4  # the descriptors that Chromium reads from and writes to


class Browser:
    """One page of a browser that ends with the `with` block; what the page complains of is in `complaints`."""

    def __init__(self, program, limit=240):
        self.deadline = time.monotonic() + limit
        self.profile = tempfile.mkdtemp(prefix="titan-browser-")
        self.number, self.rest, self.complaints, self.events = 0, b"", [], []
        read_commands, self.to = os.pipe()
        self.of, write_answers = os.pipe()
        # Descriptors above those that they become: a pipe of ours may be 3 or 4 itself.
        ends = [os.dup2(end, 100 + end, inheritable=True) for end in (read_commands, write_answers)]
        command = " ".join(f'"{word}"' for word in [program, f"--user-data-dir={self.profile}", *FLAGS])
        redirected = f"exec {command} {COMMANDS}<&{ends[0]} {ANSWERS}>&{ends[1]}"
        self.process = subprocess.Popen(
            ["bash", "-c", redirected], pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (read_commands, write_answers, *ends):
            os.close(end)

    def __enter__(self):
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self.page(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except Exception:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.of)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def page(self, method, **params):
        return self.call(method, self.session, **params)

    def receive(self):
        while b"\0" not in self.rest:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.of], [], [], left)[0]:
                raise TimeoutError("no answer from the browser")
            data = os.read(self.of, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        answer = json.loads(message)
        self.note(answer.get("method"), answer.get("params", {}))
        return answer

    def note(self, method, params):
        if method:
            self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))
        if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])

    def open(self, address, width=1400, height=1000):
        """Loads a page and waits until all of it is there."""
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        error = self.page("Page.navigate", url=address).get("errorText")
        if error:
            raise RuntimeError(f"{address}: {error}")
        while "Page.loadEventFired" not in self.events:
            self.receive()

    def value(self, expression):
        """What a JavaScript expression comes to; a promise is awaited."""
        answer = self.page("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")
