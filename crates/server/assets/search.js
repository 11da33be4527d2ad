// Live results and suggestions, keyboard shortcuts, and click counts of the search page. The page works without this
// script.
"use strict";
// The path prefix below which the server is offered: this file is at PREFIX/assets/MARK/NAME.
const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, "");
(() => {
  const field = document.getElementById("q");

  // Reports a click once: removes the attribute `ping`, by which the browser would report it too.
  const report = (address) => Boolean(address) && navigator.sendBeacon(address);
  const clicked = (event) => {
    if (event.type === "auxclick" && event.button !== 1) return;
    const link = event.target.closest?.("a[ping]");
    if (!link) return;
    settle();
    const address = link.getAttribute("ping");
    if (report(address)) link.removeAttribute("ping");
  };
  addEventListener("click", clicked, true);
  addEventListener("auxclick", clicked, true);

  // Live results during typing.
  const PAUSE = 120; // ms between the last key and the request
  const SETTLED = 2000; // ms without a key after which the search is logged
  const form = field?.form;
  const answer = document.getElementById("answer");
  const status = document.getElementById("status");
  const brand = document.querySelector(".brand")?.textContent.trim() ?? "";
  let latest = 0;
  let underWay = null;
  let typingTimer = 0;
  let settledTimer = 0;
  let shown = "";
  let logged = "";

  const parameters = () => {
    const pairs = [...new FormData(form)].filter(([, value]) => value.trim() !== "");
    return new URLSearchParams(pairs);
  };
  const hasWords = () => field.value.trim() !== "";
  const live = (query, how) => {
    const all = new URLSearchParams(query);
    all.set("live", how);
    return `${base}/?${all}`;
  };

  // Lets the server log the search that is shown, once.
  function settle() {
    clearTimeout(settledTimer);
    if (!field || !shown || shown === logged) return;
    logged = shown;
    fetch(live(shown, "settled"), { keepalive: true }).catch(() => {});
  }

  const show = (html) => {
    // DOMParser runs no scripts; the server has escaped the texts.
    const parts = new DOMParser().parseFromString(html, "text/html").body.childNodes;
    answer.replaceChildren(...parts);
    const asking = document.getElementById("asking");
    const title = asking.querySelector("h1");
    asking.classList.remove("start");
    title.className = "unseen";
    title.textContent = "Search results";
    status.textContent = answer.querySelector(".count > span")?.textContent ?? "";
  };

  const refresh = async (how) => {
    clearTimeout(typingTimer);
    clearTimeout(settledTimer);
    underWay?.abort();
    const mine = ++latest;
    const query = parameters().toString();
    if (!hasWords()) {
      history.replaceState(null, "", `${base}/`);
      document.title = brand;
      answer.replaceChildren();
      shown = status.textContent = "";
      return;
    }
    if (how === "submitted") logged = query;
    underWay = new AbortController();
    try {
      const response = await fetch(live(query, how), { signal: underWay.signal });
      if (!response.ok) throw new Error(response.statusText);
      const html = await response.text();
      // An answer is stale if a later one was requested meanwhile.
      if (mine !== latest) return;
      show(html);
    } catch {
      if (mine === latest && how === "submitted") form.submit();
      return;
    }
    shown = query;
    history.replaceState(null, "", `${base}/?${query}`);
    document.title = `${field.value.trim()} · ${brand}`;
    settledTimer = setTimeout(settle, SETTLED);
  };

  // Suggestions: the list of a combobox (WAI-ARIA, "Editable Combobox With List Autocomplete").
  const list = document.getElementById("suggestions");
  let suggestions = [];
  let active = -1;
  let latestSuggestions = 0;

  const close = () => {
    latestSuggestions += 1;
    suggestions = [];
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const choose = (at) => {
    active = at;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at < 0) {
      field.removeAttribute("aria-activedescendant");
    } else {
      field.setAttribute("aria-activedescendant", list.children[at].id);
      list.children[at].scrollIntoView({ block: "nearest" });
    }
  };
  const open = (suggestion, apart) => {
    if (!/^https?:\/\//.test(suggestion.url)) return;
    settle();
    report(suggestion.click);
    if (apart) window.open(suggestion.url, "_blank", "noopener,noreferrer");
    else location.assign(suggestion.url);
  };
  const option = (suggestion, at) => {
    const line = document.createElement("li");
    line.id = `suggestion-${at}`;
    line.setAttribute("role", "option");
    line.setAttribute("aria-selected", "false");
    const add = (name, text) => {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = text;
      line.append(part, " ");
    };
    add("title", suggestion.heading ?? suggestion.title);
    add("where", suggestion.heading ? suggestion.title : suggestion.url.replace(/^https?:\/\//, ""));
    // Keeps the focus in the field.
    line.addEventListener("mousedown", (event) => event.preventDefault());
    line.addEventListener("click", (event) => open(suggestion, event.ctrlKey || event.metaKey));
    line.addEventListener("auxclick", (event) => event.button === 1 && open(suggestion, true));
    return line;
  };
  const suggest = async () => {
    const mine = ++latestSuggestions;
    const text = field.value;
    if (!hasWords()) return close();
    let found = [];
    try {
      const response = await fetch(`${base}/api/v1/suggest?${new URLSearchParams({ q: text.slice(0, 1000) })}`);
      if (response.ok) found = (await response.json()).suggestions;
    } catch {
      // Without an answer there is nothing to suggest.
    }
    if (mine !== latestSuggestions || document.activeElement !== field) return;
    if (!found.length) return close();
    suggestions = found;
    active = -1;
    list.replaceChildren(...found.map(option));
    list.hidden = false;
    field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-expanded", "true");
  };

  if (form && answer && list) {
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", "suggestions");
    field.setAttribute("aria-expanded", "false");
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    // The server has logged a page that came with results.
    if (hasWords()) shown = logged = parameters().toString();
    field.addEventListener("input", (event) => {
      if (event.isComposing) return;
      clearTimeout(typingTimer);
      clearTimeout(settledTimer);
      typingTimer = setTimeout(() => {
        suggest();
        refresh("typing");
      }, PAUSE);
    });
    field.addEventListener("compositionend", () => field.dispatchEvent(new Event("input")));
    field.addEventListener("blur", close);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      close();
      clearTimeout(typingTimer);
      if (!hasWords() || parameters().toString() !== logged) refresh("submitted");
    });
    form.addEventListener("change", (event) => {
      if (event.target !== field && hasWords()) refresh("submitted");
    });
    field.addEventListener("keydown", (event) => {
      if (event.isComposing || !suggestions.length) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        // One more position than suggestions: the field itself.
        const places = suggestions.length + 1;
        choose(((active + 1 + step + places) % places) - 1);
      } else if (event.key === "Enter" && active >= 0) {
        open(suggestions[active], event.ctrlKey || event.metaKey);
      } else if (event.key === "Escape") {
        close();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    });
  }

  // Keyboard shortcuts of the page.
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = event.target.closest?.("input, select, textarea, summary");
    if (event.key === "Escape" && inside) return inside.blur();
    if (inside && !(inside === field && event.key === "ArrowDown")) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === "/" && field) {
      field.focus();
      field.select();
    } else if (step) {
      const links = [...document.querySelectorAll(".result h2 a")];
      if (!links.length) return;
      const at = links.indexOf(document.activeElement);
      if (at + step < 0) {
        field?.focus();
      } else {
        const link = links[Math.min(at + step, links.length - 1)];
        link.focus();
        link.closest(".result").scrollIntoView({ block: "nearest" });
      }
    } else {
      return;
    }
    event.preventDefault();
  });
})();
