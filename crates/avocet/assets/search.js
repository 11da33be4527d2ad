// Keys of the search page. Everything works without.
"use strict";
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const asking = document.getElementById("q");
  const field = event.target.closest("input, select, textarea, summary");
  if (event.key === "Escape" && field) return field.blur();
  if (field && !(field === asking && event.key === "ArrowDown")) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (event.key === "/") {
    asking.focus();
    asking.select();
  } else if (step) {
    const links = [...document.querySelectorAll(".result h2 a")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    if (at + step < 0) {
      asking.focus();
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
