// Pages work without this script. With it, choices are saved at once, progress is shown while it is made, and an
// open page follows what other tabs and the server change.
"use strict";
(() => {
  document.documentElement.classList.add("script");
  const byId = (id) => document.getElementById(id);
  let version = Number(document.body.dataset.version);
  let news = null;

  // --- the page as the server has it now ----------------------------------------------------------

  async function refresh() {
    show(await (await ask(location.href)).text());
  }

  async function ask(address, options) {
    const answer = await fetch(address, options);
    if (answer.status === 403) leave();
    if (!answer.ok) throw new Error(answer.status);
    return answer;
  }

  // The session has ended: nothing of it stays here. Who ends it is on the way to another page already.
  let isEnding = false;

  function leave() {
    if (!isEnding) location.reload();
  }

  document.addEventListener("submit", (event) => (isEnding ||= event.target.getAttribute("action") === "/end"));

  function show(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (Number(fresh.body.dataset.version) < version) return fresh; // an answer that came late
    version = Number(fresh.body.dataset.version);
    document.body.dataset.version = version;
    document.title = fresh.title;
    const focused = document.activeElement;
    for (const part of ["header nav", "#about", "main"]) update(document.querySelector(part), fresh.querySelector(part));
    if (focused !== document.body && !focused.isConnected) byId("title").focus();
    filter();
    return fresh;
  }

  // Make one element like another, changing as little as possible: what has the focus or was unfolded stays.
  function update(old, fresh) {
    if (old.id === "lost" || old.id === "notice") return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    if (old.isEqualNode(fresh) && !old.querySelector("input, select, textarea") && !old.matches("input, select, textarea")) return;
    for (const { name } of [...old.attributes])
      if (!fresh.hasAttribute(name) && !(old.nodeName === "DETAILS" && name === "open")) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes)
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    updateChildren(old, [...fresh.childNodes]);
    if (old === document.activeElement || old.type === "file" || old.id === "filter") return;
    if (old.matches("input[type=checkbox]")) old.checked = fresh.checked;
    else if (old.matches("input, select, textarea") && old.value !== fresh.value) old.value = fresh.value;
  }

  const alike = (one, other) =>
    one.nodeName === other.nodeName && one.id === other.id && one.className === other.className;

  function updateChildren(old, left) {
    let cursor = old.firstChild;
    while (left.length) {
      const child = left.shift();
      let found = cursor;
      while (found && !alike(found, child)) found = found.nextSibling;
      const isNeeded = found !== cursor && cursor && left.some((other) => alike(cursor, other));
      if (!found || isNeeded) {
        old.insertBefore(document.importNode(child, true), cursor);
        continue;
      }
      while (cursor !== found) cursor = removed(cursor);
      update(found, child);
      cursor = found.nextSibling;
    }
    while (cursor) cursor = removed(cursor);
  }

  function removed(node) {
    const next = node.nextSibling;
    node.remove();
    return next;
  }

  // --- choices are saved at once ------------------------------------------------------------------

  let saving = Promise.resolve();

  document.addEventListener("change", (event) => {
    const control = event.target;
    const form = control.closest("form");
    if (control.id === "upload" && control.files.length) send(control.files[0]);
    if (!form || !("save" in form.dataset) || !control.name) return;
    const value = control.type === "checkbox" ? (control.checked ? "1" : "") : control.value;
    const body = new URLSearchParams([[control.name, value]]);
    saving = saving.then(() => save(form.getAttribute("action"), body));
  });

  async function save(address, body) {
    try {
      const fresh = show(await (await ask(address, { method: "POST", body })).text());
      byId("notice").replaceChildren(...fresh.getElementById("notice").childNodes);
      report("");
    } catch (error) {
      if (!(error instanceof TypeError)) return report("This choice was not saved. Reload the page.");
      report("This choice is not saved yet: the server does not answer. Trying again …"); // no answer at all
      await new Promise((done) => setTimeout(done, 2000));
      await save(address, body);
    }
  }

  // A form is sent when its last choice was saved, so that it shows what is in force.
  let isWaiting = false;
  let isReady = false;

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.submitter?.form !== form || !("save" in form.dataset) || isReady) return;
    event.preventDefault();
    if (isWaiting) return; // a second click
    isWaiting = true;
    setTimeout(async () => {
      await saving;
      isWaiting = false;
      const same = [...form.elements].find((each) => each.name === "then" && each.value === event.submitter.value);
      isReady = true;
      if (same) form.requestSubmit(same); // it may be gone, where the last choice forbids a run
      isReady = false;
    });
  });

  // --- files ---------------------------------------------------------------------------------------

  for (const kind of ["dragover", "drop"])
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (kind === "drop" && byId("upload")) send(event.dataTransfer.files[0]);
    });

  function send(file) {
    const bar = byId("sent");
    const stop = byId("stop-sending");
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("file", file);
    bar.hidden = stop.hidden = false;
    stop.onclick = () => request.abort();
    request.upload.onprogress = (event) => (bar.value = event.loaded / Math.max(event.total, 1));
    request.onload = () => location.assign(request.responseURL);
    request.onerror = () => report("The file could not be sent. Is the server still running?");
    request.onloadend = () => {
      bar.hidden = stop.hidden = true;
      if (byId("upload")) byId("upload").value = ""; // or the same file could not be chosen again
    };
    report("");
    request.open("POST", "/data");
    request.send(body);
  }

  // --- what changes by itself -----------------------------------------------------------------------

  let stream = null;
  let drawn = 0;
  let lastDrawing = 0;

  function listen() {
    if (stream || document.visibilityState === "hidden") return;
    stream = new EventSource("/events");
    stream.onmessage = (event) => {
      report("");
      keepUp(JSON.parse(event.data));
    };
    stream.addEventListener("ended", leave);
    stream.onerror = lost;
  }

  function keepUp(state) {
    follow(state).catch(() => {
      lost();
      setTimeout(() => keepUp(state), 2000); // the page asked for did not arrive
    });
  }

  async function follow(state) {
    for (const [kind, job] of Object.entries(state.jobs)) {
      const place = document.querySelector(`[data-job="${kind}"]`);
      if (!place) continue;
      place.querySelector(".stage").textContent = job.stage;
      if (job.done) place.querySelector("progress").value = job.done;
    }
    const more = Object.values(state.jobs).reduce((sum, job) => sum + job.drawn, 0);
    const mayDraw = more !== drawn && Date.now() - lastDrawing > 2000;
    if (news !== null && state.news !== news) byId("status").textContent = state.news;
    news = state.news;
    if (state.version > version || mayDraw) {
      drawn = more;
      lastDrawing = Date.now();
      await saving;
      await refresh();
    }
  }

  function lost() {
    report("The connection to the server is lost. Trying again …");
    if (stream?.readyState !== EventSource.CLOSED) return; // it tries again by itself
    stream = null;
    setTimeout(async () => {
      try {
        await ask("/alive");
      } catch {
        report("The server does not answer. If it was ended, start it again and open its new link. Trying again …");
      }
      listen();
    }, 2000);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") listen();
    else {
      stream?.close();
      stream = null;
    }
  });
  setInterval(() => document.visibilityState === "hidden" && fetch("/alive").catch(() => {}), 240000);

  function report(text) {
    const place = byId("lost");
    if (place.textContent === text) return;
    place.replaceChildren();
    if (!text) return;
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = text;
    place.append(line);
  }

  // What was refused is said once, not whenever this page is gone back to.
  if (location.search.startsWith("?notice=")) history.replaceState(null, "", location.pathname);

  // --- small helps ----------------------------------------------------------------------------------

  function filter() {
    if (!byId("filter")) return;
    const sought = byId("filter").value.toLowerCase();
    const roles = JSON.parse(byId("filter").dataset.roles); // as the line of sums calls them
    const rows = [...document.querySelectorAll("table.columns tbody tr")];
    for (const row of rows) {
      const role = row.querySelector("select").selectedOptions[0];
      const words = [row.firstElementChild.textContent, role.textContent, roles[role.value.split(" ")[0]]];
      row.hidden = !words.join("\n").toLowerCase().includes(sought);
    }
    const shown = rows.filter((row) => !row.hidden).length;
    byId("filtered").textContent = sought && `${shown} of ${rows.length} columns`;
  }
  document.addEventListener("input", (event) => event.target.id === "filter" && filter());

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const from = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(from.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(from); // not allowed here: the user copies what is selected
    }
  });

  if (document.body.dataset.version) listen();
})();
