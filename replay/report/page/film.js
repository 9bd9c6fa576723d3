"use strict";

// What the page shows: one step at a time ("film"), or all below each other.
const root = document.documentElement;
const one = (query, from = document) => from.querySelector(query);
const all = (query, from = document) => [...from.querySelectorAll(query)];
const film = () => root.classList.contains("film");
const within = (n, low, high) => Math.min(Math.max(n, low), high);

let steps = [], links = [], ticks = [];
let here = -1;       // the step that is shown or read
let jumped = -1;     // where a key led, below each other
const onStep = [];   // called after another step is shown

// show goes to a step, from 0.
function show(i, scroll = true) {
  i = within(i, 0, steps.length - 1);
  if (i < 0) return;
  if (i !== here) {
    steps[here]?.classList.remove("here");
    point(links[here], false);
    here = i;
    steps[i].classList.add("here");
    point(links[i], true);
    onStep.forEach((f) => f(i));
  }
  if (!film() && scroll) {
    steps[i].scrollIntoView();
    jumped = scrollY;
  }
}

// point marks the link of a step in the list. Only that one is a stop of the
// tab key, as a list may be long.
function point(link, on) {
  if (!link) return;
  link.classList.toggle("here", on);
  link.tabIndex = on ? 0 : -1;
  if (!on) return link.removeAttribute("aria-current");
  link.setAttribute("aria-current", "step");
  const rail = link.closest(".rail"), box = rail.getBoundingClientRect(), at = link.getBoundingClientRect();
  rail.scrollBy({ left: at.left - box.left - (box.width - at.width) / 2, top: at.top - box.top - (box.height - at.height) / 2 });
}

// words says in a line what a step is.
function words(i) {
  const mood = steps[i].dataset.mood;
  return `${one(".what", links[i]).textContent}${mood ? ` (${mood})` : ""}`;
}

// read finds the step that is read, where all are below each other.
function read() {
  if (film() || scrollY === jumped) return; // still where a key led
  jumped = -1;
  const end = scrollY > 0 && innerHeight + scrollY >= root.scrollHeight - 2;
  const i = end ? steps.length - 1 : steps.findLastIndex((s) => s.getBoundingClientRect().top <= innerHeight / 3);
  if (i >= 0) show(i, false);
}

// The address names the step. It follows with a delay, as browsers allow only so
// many changes of it; and not to one that somebody has just gone to, of which the
// browser tells later than it has it.
let addressing = 0, followed = "";
function address() {
  clearTimeout(addressing);
  addressing = setTimeout(() => {
    const hash = "#" + steps[here].id;
    if (location.hash !== followed || hash === followed) return;
    history.replaceState(null, "", hash);
    followed = location.hash;
  }, 250);
}

function follow() {
  clearTimeout(addressing);
  followed = location.hash;
  const i = steps.findIndex((s) => "#" + s.id === location.hash);
  if (i >= 0) show(i);
}

// view changes between one step and all of them.
function view(asFilm) {
  root.classList.toggle("film", asFilm);
  root.classList.remove("alone");
  pressed("all", !asFilm);
  pressed("alone", false);
  if (!asFilm) {
    stop();
    show(here);
  }
}

function alone(on = !root.classList.contains("alone")) {
  if (!film()) view(true);
  root.classList.toggle("alone", on);
  pressed("alone", on);
}

function about() {
  const open = one(".top").classList.toggle("open");
  one('[data-do="about"]').setAttribute("aria-expanded", open);
}

function pressed(name, on) {
  one(`[data-do="${name}"]`)?.setAttribute("aria-pressed", on);
}

// trouble goes to the next step, or the one before, with a bad end.
function trouble(by) {
  for (let i = here + by; i >= 0 && i < steps.length; i += by)
    if (steps[i].matches(":has(h2 > .dot:is(.odd, .doubted, .bad, .diverged, .parted))")) return show(i);
}

function calls() {
  const list = all("details.call", film() ? steps[here] : document);
  const open = list.some((c) => !c.open);
  list.forEach((c) => { c.open = open; });
}
