"""What a browser makes of a trace: browser_trace.py CHROMIUM FILE.json.gz. It reads the file as a viewer does, by
decompressing a stream of it, and checks the rules of trace events."""

import os
import pathlib
import sys
import tempfile

from browser import Browser

PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>trace</title><input id="file" type="file"><script>
async function read(file) {
  const stream = file.stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}
function check(trace) {
  const problems = [], phases = {}, threads = new Map(), flows = new Map();
  const fail = (what, event) => { if (problems.length < 10) problems.push(what + ': ' + JSON.stringify(event)); };
  const lane = event => JSON.stringify([event.pid, event.tid]);
  for (const event of trace.traceEvents) {
    phases[event.ph] = (phases[event.ph] || 0) + 1;
    if (typeof event.name !== 'string') fail('no name', event);
    if (event.pid === undefined) fail('no process', event);
    if (event.ph !== 'M' && !Number.isFinite(event.ts)) fail('no time', event);
    if (event.tid === undefined && event.ph !== 'M' && event.ph !== 'C') fail('no thread', event);
    if (!threads.has(lane(event))) threads.set(lane(event), {open: [], spans: []});
    const thread = threads.get(lane(event));
    if (event.ph === 'X') {
      if (!(event.dur >= 0)) fail('no duration', event);
      thread.spans.push(event);
    } else if (event.ph === 'B') {
      thread.open.push(event);
    } else if (event.ph === 'E') {
      if (!thread.open.pop()) fail('an end without a begin', event);
    } else if (event.ph === 'C') {
      const values = Object.values(event.args || {});
      if (!values.length || !values.every(Number.isFinite)) fail('no number of a counter', event);
    } else if (event.ph === 's' || event.ph === 'f') {
      if (event.id === undefined) fail('a flow without an id', event);
      flows.set(event.cat + event.id, (flows.get(event.cat + event.id) || '') + event.ph);
    } else if (!'Mi'.includes(event.ph)) {
      fail('an unknown phase', event);
    }
  }
  for (const {open, spans} of threads.values()) {
    open.forEach(event => fail('a begin without an end', event));
    spans.sort((a, b) => a.ts - b.ts || b.dur - a.dur);
    const around = [];
    for (const span of spans) {
      while (around.length && around.at(-1) <= span.ts + 1) around.pop();
      if (around.length && span.ts + span.dur > around.at(-1) + 1) fail('spans of a thread overlap', span);
      around.push(span.ts + span.dur);
    }
  }
  for (const [id, ends] of flows) if (ends.includes('f') && !ends.includes('s')) fail('a flow without a begin', id);
  return {events: trace.traceEvents.length, phases, threads: threads.size, problems};
}
</script>"""


def main(chromium, file):
    with tempfile.TemporaryDirectory() as folder, Browser(chromium) as browser:
        page = pathlib.Path(folder) / "trace.html"
        page.write_text(PAGE)
        browser.open(page.as_uri())
        root = browser.page("DOM.getDocument")["root"]["nodeId"]
        node = browser.page("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
        browser.page("DOM.setFileInputFiles", files=[os.path.abspath(file)], nodeId=node)
        found = browser.value("read(document.getElementById('file').files[0]).then(check)")
        assert not found["problems"], found["problems"]
        assert not browser.complaints, browser.complaints
        phases = ", ".join(f"{count} {phase}" for phase, count in sorted(found["phases"].items()))
        print(f"{found['events']} events on {found['threads']} threads: {phases}")


main(*sys.argv[1:])
