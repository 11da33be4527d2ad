// A search box for any site, by one script tag:
//
//   <script src="https://search.example.org/embed.js" async></script>
//
// The box appears after the tag, or in the element that data-into selects; data-placeholder sets its hint.
// A search opens the search page. If [serve] cors lists the site, suggestions appear below the box during typing.
//
// The script works under a strict Content-Security-Policy of the site: script-src and connect-src for this server are
// enough. It inserts results as text only, and uses no markup, inline style or form.
"use strict";
(() => {
  const tag = document.currentScript;
  if (!tag) return;
  const server = new URL(".", tag.src).href.replace(/\/$/, "");
  const holder = document.createElement("div");
  const into = tag.dataset.into && document.querySelector(tag.dataset.into);
  if (into) into.append(holder);
  else tag.after(holder);
  const root = holder.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; position: relative; max-width: 28rem; font: inherit; }
    * { box-sizing: border-box; }
    div[role=search] { display: flex; gap: .25rem; }
    input, button { font: inherit; padding: .4em .7em; border: 1px solid #767676; border-radius: 6px; background: Field; color: FieldText; min-width: 0; }
    input { flex: 1; }
    button { cursor: pointer; background: ButtonFace; color: ButtonText; }
    ul { position: absolute; z-index: 1000; left: 0; right: 0; margin: .25rem 0 0; padding: .25rem; list-style: none;
      background: Canvas; color: CanvasText; border: 1px solid #767676; border-radius: 6px; max-height: 60vh; overflow: auto; }
    li { padding: .35em .5em; border-radius: 4px; cursor: pointer; overflow-wrap: anywhere; }
    li[aria-selected=true], li:hover { background: Highlight; color: HighlightText; }
    b, small { display: block; }
    [hidden] { display: none; }
  `);
  root.adoptedStyleSheets = [sheet];
  const make = (name, attributes) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const box = make("div", { role: "search" });
  const field = make("input", {
    type: "search", maxlength: "1000", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
    "aria-label": "Search", placeholder: tag.dataset.placeholder ?? "Search",
    role: "combobox", "aria-autocomplete": "list", "aria-controls": "results", "aria-expanded": "false",
  });
  const button = make("button", { type: "button" });
  button.textContent = "Search";
  const list = make("ul", { id: "results", role: "listbox", "aria-label": "Results" });
  list.hidden = true;
  box.append(field, button);
  root.append(box, list);

  let found = [];
  let active = -1;
  let latest = 0;
  let timer = 0;
  let allowed = true;

  const close = () => {
    latest += 1;
    clearTimeout(timer);
    found = [];
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const search = () => {
    const text = field.value.trim();
    if (text) location.assign(`${server}/?${new URLSearchParams({ q: text })}`);
  };
  const open = (result) => {
    if (/^https?:\/\//.test(result.url)) location.assign(result.url);
  };
  const choose = (at) => {
    active = at;
    [...list.children].forEach((line, place) => line.setAttribute("aria-selected", String(place === at)));
    if (at < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", list.children[at].id);
  };
  const line = (result, at) => {
    const entry = make("li", { role: "option", id: `result-${at}`, "aria-selected": "false" });
    const title = document.createElement("b");
    const where = document.createElement("small");
    title.textContent = result.heading ?? result.title;
    where.textContent = result.heading ? result.title : result.url;
    entry.append(title, where);
    entry.addEventListener("mousedown", (event) => event.preventDefault());
    entry.addEventListener("click", () => open(result));
    return entry;
  };
  const ask = async () => {
    const mine = ++latest;
    const text = field.value.trim().slice(0, 1000);
    if (!text) return close();
    let results = [];
    try {
      const response = await fetch(`${server}/api/v1/suggest?${new URLSearchParams({ q: text })}`, { credentials: "omit" });
      if (response.ok) results = (await response.json()).suggestions;
    } catch {
      // The server does not allow this site: from now on the box only opens the search page.
      allowed = false;
    }
    if (mine !== latest) return;
    if (!results.length) return close();
    found = results;
    active = -1;
    list.replaceChildren(...results.map(line));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    field.removeAttribute("aria-activedescendant");
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    if (allowed) timer = setTimeout(ask, 150);
  });
  field.addEventListener("blur", close);
  button.addEventListener("click", search);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      const places = found.length + 1;
      choose(((active + 1 + step + places) % places) - 1);
    } else if (event.key === "Enter") {
      if (active >= 0) open(found[active]);
      else search();
    } else if (event.key === "Escape" && found.length) {
      close();
    } else {
      return;
    }
    event.preventDefault();
  });
})();
