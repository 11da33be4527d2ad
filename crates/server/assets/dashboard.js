// Updates the parts of the dashboard from server-sent events. Without JavaScript the page reloads itself every 10 s.
"use strict";
// The path prefix below which the server is offered: this file is at PREFIX/assets/MARK/NAME.
const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, "");
const live = document.getElementById("live");
if (live && "EventSource" in window) {
  const busy = (part) => {
    const marked = document.getSelection();
    const focused = document.activeElement;
    return (focused !== part && part.contains(focused)) || (marked && !marked.isCollapsed && part.contains(marked.anchorNode));
  };
  const events = new EventSource(base + live.dataset.events);
  events.addEventListener("live", (event) => {
    const fresh = document.createElement("template");
    fresh.innerHTML = event.data;
    for (const part of fresh.content.querySelectorAll("[data-part]")) {
      const shown = live.querySelector(`[data-part="${part.dataset.part}"]`);
      if (shown && !busy(shown) && shown.innerHTML !== part.innerHTML) {
        shown.replaceChildren(...part.childNodes);
      }
    }
    document.documentElement.dataset.live = String(Date.now());
  });
}
