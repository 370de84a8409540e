// What the page does by itself: steps and their addresses, choices and buttons handed to the server, uploads.
"use strict";
(() => {
  const links = () => [...document.querySelectorAll("nav a[data-step]")];
  const steps = () => links().map((link) => link.dataset.step);
  const stepOf = (path) => (steps().includes(path.slice(1)) ? path.slice(1) : steps()[0]);
  let focusTitle = false;
  let connected = false;
  let over = false;

  function show(step, push) {
    if (push && step !== stepOf(location.pathname)) history.pushState(null, "", "/" + step);
    for (const link of links()) {
      if (link.dataset.step === step) {
        link.setAttribute("aria-current", "step");
        document.title = link.lastChild.textContent + " – microagg";
      } else link.removeAttribute("aria-current");
    }
    if (connected) Shiny.setInputValue("step", step, { priority: "event" });
  }

  function go(step) {
    focusTitle = true;
    show(step, true);
  }

  addEventListener("popstate", () => show(stepOf(location.pathname), false));

  const CONTROLS = "a[data-step], [data-act]";
  const isPlain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  const press = (control) => (control.dataset.act ? act(control) : go(control.dataset.step));

  document.addEventListener("click", (event) => {
    const control = event.target.closest(CONTROLS);
    if (!control || (!control.dataset.act && !isPlain(event))) return;
    if (!control.dataset.act) event.preventDefault();
    press(control);
  });

  // What is drawn again while it is held down gets no click: then what stands in its place acts.
  let held = null;

  function heldBy(event) {
    if (event instanceof KeyboardEvent) return event.key === " " ? event.target.closest("button[data-act]") : null;
    return isPlain(event) ? event.target.closest?.(CONTROLS) : null; // outside the window the target is no element
  }

  for (const kind of ["mousedown", "keydown"])
    document.addEventListener(kind, (event) => (held = heldBy(event)));
  for (const kind of ["mouseup", "keyup"])
    document.addEventListener(kind, (event) => {
      const now = heldBy(event);
      if (held && now && !held.isConnected && whichOf(held) === whichOf(now)) press(now);
      held = null;
    });

  document.addEventListener("keydown", (event) => {
    const point = event.target.closest("g[data-act]");
    if (point && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      act(point);
    }
    if (event.target.id === "path" && event.key === "Enter") act(document.querySelector('[data-act="open"]'));
  });

  const valueOf = (id) => document.getElementById(id)?.value ?? "";

  function act(button) {
    const told = { ...button.dataset };
    if (told.act === "copy") {
      copy(button);
      return;
    }
    if (told.act === "open") told.path = valueOf("path");
    if (told.act === "reread") for (const word of ["delimiter", "encoding", "decimal", "header", "sheet", "header_row"]) told[word] = valueOf(word);
    if (told.act === "compare") {
      told.ks = valueOf("compare-k");
      told.methods = valueOf("compare-methods");
    }
    Shiny.setInputValue("did", told, { priority: "event" });
  }

  async function copy(button) {
    const from = document.getElementById(button.dataset.from);
    try {
      await navigator.clipboard.writeText(from.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(from); // not allowed here: the user copies what is selected
    }
  }

  document.addEventListener("change", (event) => {
    const control = event.target;
    if (control.id === "upload" && control.files.length) upload(control.files[0]);
    if (!control.dataset.word) return;
    if (control.id === "recipe" && !control.value) control.value = "auto";
    const value = control.type === "checkbox" ? control.checked : control.value;
    const said = { word: control.dataset.word, value, column: control.dataset.column ?? null };
    Shiny.setInputValue("said", said, { priority: "event" });
  });

  for (const kind of ["dragover", "drop"])
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (kind === "drop" && document.getElementById("upload")) upload(event.dataTransfer.files[0]);
    });

  function upload(file) {
    const bar = document.getElementById("sent");
    const request = new XMLHttpRequest();
    bar.hidden = false;
    request.upload.onprogress = (event) => (bar.value = event.loaded / Math.max(event.total, 1));
    request.onload = () => {
      bar.hidden = true;
      if (request.status !== 204) tell(request.responseText);
    };
    request.onerror = () => {
      bar.hidden = true;
      tell("The file could not be sent. Is the server still running?");
    };
    tell("");
    request.open("POST", "/upload?name=" + encodeURIComponent(file.name));
    request.send(file);
  }

  // How to find the same control when what it is part of has been drawn again.
  function whichOf(control) {
    if (control.id) return "#" + CSS.escape(control.id);
    const parts = [...control.attributes].filter((each) => each.name.startsWith("data-"));
    const quoted = (text) => text.replace(/["\\]/g, "\\$&");
    return parts.length ? parts.map((each) => `[${each.name}="${quoted(each.value)}"]`).join("") : null;
  }

  function tell(text) {
    const place = document.getElementById("lost");
    place.replaceChildren();
    if (!text) return;
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = text;
    place.append(line);
  }

  function start() {
    jQuery(document).on("shiny:sessioninitialized", () => {
      connected = true;
      show(stepOf(location.pathname), false);
    });
    jQuery(document).on("shiny:disconnected", () => {
      connected = false;
      if (over) return;
      tell("The connection to the server is lost. Reload this page; if it stays away, start the server again.");
    });
    jQuery(document).on("shiny:value", (event) => {
      if (event.name === "page") tell("");
      const again = event.target.contains(document.activeElement) ? whichOf(document.activeElement) : null;
      setTimeout(() => {
        if (event.name === "page" && focusTitle) {
          focusTitle = false;
          scrollTo(0, 0);
          document.getElementById("title")?.focus();
        } else if (again) event.target.querySelector(again)?.focus({ preventScroll: true });
      });
    });
    Shiny.addCustomMessageHandler("go", (told) => go(told.step));
    Shiny.addCustomMessageHandler("ended", (told) => {
      over = true;
      const line = document.createElement("p");
      line.textContent = told.text;
      document.querySelector("main").replaceChildren(line);
      for (const other of document.querySelectorAll("nav, footer")) other.remove();
    });
  }

  start();
})();
