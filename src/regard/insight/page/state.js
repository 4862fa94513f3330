// What is shown, all of it, kept in the address: it can be shared, and the back button works.

export const DEFAULTS = {
  model: "", text: "", second: null, generate: 0,   // what is looked at
  tab: "look", family: null, layer: null, head: "mean", // null: the page chooses
  view: "matrix", how: "raw", words: true, marks: true, min: 0, scale: "most", base: false,
  ask: null, read: null, step: null,                // tokens that are pinned; how far a translation has come
  sort: "layer", gold: "", palette: "blue", lang: "", theme: "",
  other: null, than: "",                            // what it is compared with
  force: "", temperature: 0, topk: 0, topp: 1, seed: 1, beam: 0,
};

const NUMBERS = new Set(["generate", "layer", "min", "ask", "read", "step", "temperature", "topk", "topp", "seed", "beam"]);

export function written(state) {
  const told = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value === DEFAULTS[key] || value === null) continue;
    told.set(key, value === true ? "1" : value === false ? "0" : String(value));
  }
  return told.toString().replaceAll("+", "%20");
}

export function readState(text) {
  const found = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(text)) {
    if (!(key in DEFAULTS)) continue;
    if (typeof DEFAULTS[key] === "boolean") found[key] = value === "1" || value === "true";
    else if (NUMBERS.has(key)) found[key] = Number.isFinite(Number(value)) && value !== "" ? Math.max(0, Number(value)) : DEFAULTS[key];
    else if (key === "head") found[key] = /^\d+$/.test(value) ? Number(value) : "mean";
    else found[key] = value;
  }
  return found;
}

export class Store {
  // given: what a saved page begins with
  constructor(given = {}) {
    const text = location.hash.slice(1) || new URLSearchParams(Object.entries(given).map(([k, v]) => [k, v === true ? "1" : v === false ? "0" : String(v)])).toString();
    this.state = readState(text);
    this.listeners = [];
    addEventListener("popstate", () => this.#move(readState(location.hash.slice(1))));
  }

  listen(act) {
    this.listeners.push(act);
  }

  // quiet: no step for the back button (a slider that is being drawn)
  set(changes, quiet = false) {
    const next = { ...this.state, ...changes };
    if (written(next) === written(this.state)) return;
    this.#write(next, quiet);
    this.#move(next);
  }

  #move(next) {
    const before = this.state;
    this.state = next;
    for (const act of this.listeners) act(next, before);
  }

  #write(next, quiet) {
    const place = `#${written(next)}`;
    try {
      if (quiet) history.replaceState(null, "", place);
      else history.pushState(null, "", place);
    } catch {
      // a frame in a notebook has no address of its own
    }
  }
}
