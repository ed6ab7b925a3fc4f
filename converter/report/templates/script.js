// What the page can do better with a script: search, and news from the server that it came from.
(() => {
  "use strict";
  const by = (id) => document.getElementById(id);
  const find = by("find");
  const texts = new WeakMap();
  const text = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };

  const narrow = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const phase = document.querySelector("input[name=phase]:checked").value;
    let all = 0;
    let shown = 0;
    for (const card of by("cards").children) {
      const wanted = words.every((word) => text(card).includes(word));
      card.hidden = !wanted;
      all += 1;
      if (wanted && (!phase || card.dataset.phase === phase)) shown += 1;
    }
    by("found").textContent = words.length || phase ? `${shown} of ${all} campaigns shown` : "";
  };

  by("search").hidden = false;
  find.addEventListener("input", narrow);
  document.querySelector(".phases").addEventListener("change", narrow);
  // A campaign that is linked to has to be seen.
  const reveal = () => {
    const card = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!card || !card.classList.contains("card")) return;
    const phase = document.querySelector("input[name=phase]:checked").value;
    if (card.hidden || (phase && phase !== card.dataset.phase)) {
      find.value = "";
      by("show-all").checked = true;
      narrow();
      card.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  narrow();

  const every = Number(document.documentElement.dataset.every) * 1000;
  if (!every) return;

  // An element that is as it was stays the same element: what is selected in it, or open, stays.
  const asItWas = (now, next) => {
    const copy = now.cloneNode(true);
    copy.removeAttribute("hidden");
    for (const each of copy.querySelectorAll("details[open]")) each.removeAttribute("open");
    return copy.isEqualNode(next);
  };
  const replace = (now, next) => {
    const open = [...now.querySelectorAll("details[open]")].map((each) => each.id);
    now.replaceChildren(...next.childNodes);
    for (const id of open) if (by(id)) by(id).open = true;
  };
  const merge = (now, next) => {
    if (now.id !== "cards") return asItWas(now, next) || replace(now, next);
    const there = new Map([...now.children].map((card) => [card.id, card]));
    let before = null;
    for (const card of [...next.children].reverse()) {
      let mine = there.get(card.id);
      there.delete(card.id);
      if (!mine || mine.dataset.phase !== card.dataset.phase) {
        if (mine) mine.remove();
        mine = card;
      } else if (!asItWas(mine, card)) {
        replace(mine, card);
        texts.delete(mine);
      }
      if (mine.nextSibling !== before || mine.parentNode !== now) now.insertBefore(mine, before);
      before = mine;
    }
    for (const gone of there.values()) gone.remove();
  };

  const show = (html) => {
    const next = new DOMParser().parseFromString(html, "text/html");
    const focused = document.activeElement && document.activeElement.id;
    const left = scrollX;
    const top = scrollY;
    for (const now of document.querySelectorAll("[data-live]")) {
      const news = next.getElementById(now.id);
      if (news) merge(now, news);
    }
    for (const chip of next.querySelectorAll(".chip[data-n]")) {
      by(chip.id).dataset.n = chip.dataset.n;
    }
    document.title = next.title;
    narrow();
    const again = focused && by(focused);
    if (again && again !== document.activeElement) again.focus({ preventScroll: true });
    if (scrollX !== left || scrollY !== top) scrollTo(left, top);
  };

  const lost = (why) => {
    const line = document.createElement("p");
    line.className = "notice bad";
    line.id = "lost";
    const time = by("asof").querySelector("time").textContent;
    line.textContent = `No answer from the program that serves this page (${why}): what is shown is of ${time}.`;
    by("notices").replaceChildren(line);
  };

  const ask = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.pathname, { cache: "no-store" });
        if (!answer.ok) throw new Error(String(answer.status));
        show(await answer.text());
      } catch (error) {
        lost(error.message);
      }
    }
    setTimeout(ask, every);
  };
  setTimeout(ask, every);
})();
