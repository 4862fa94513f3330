// The page: what is looked at, where it comes from, and who draws it.

import { Asking } from "./asking.js";
import { el, fill } from "./dom.js";
import { Looking } from "./looking.js";
import { Notice } from "./notice.js";
import { Plain } from "./plain.js";
import { Remote, Trouble } from "./remote.js";
import { Store, written } from "./state.js";
import { Top } from "./top.js";
import { Trace } from "./trace.js";
import { say, setLanguage } from "./words.js";

const MOST_TOKENS = 2048, AT_ONCE = 1 << 20;
const QUERY = ["model", "text", "second", "generate"];

export class App {
  // held: what a saved page brings: { trace, view, source }; nothing: the server is asked
  constructor(held = null) {
    this.held = held;
    this.live = !held;
    this.store = new Store(held?.view);
    this.remote = new Remote();
    this.models = [];
    this.trace = held?.trace ?? null;
    this.notice = new Notice();
    this.top = new Top(this.store);
    this.asking = new Asking(this.store, (query) => this.look(query));
    this.looking = new Looking(this);
    this.plain = new Plain(this);
    this.main = document.getElementById("main");
    this.content = el("div", { class: "content" });
    fill(this.main, this.live ? this.asking.box : null, this.notice.box, this.content);
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.addEventListener("change", () => this.redraw());
    this.store.listen((state, before) => this.#changed(state, before));
    addEventListener("resize", () => this.redraw());
  }

  async start() {
    this.#dress();
    this.top.update(this.store.state, [], this.trace?.meta.model ?? "");
    if (!this.live) return this.redraw();
    try {
      this.models = (await this.remote.info()).models.filter(({ verbs }) => verbs.includes("attention"));
    } catch (error) {
      if (error.code === "invalid_api_key") return this.notice.ask(Boolean(this.remote.key), (key) => { this.remote.unlock(key); this.notice.clear(); this.start(); });
      return this.notice.tell(error, () => { this.notice.clear(); this.start(); });
    }
    if (!this.models.length) return this.notice.tell(new Trouble("noModels"));
    if (!this.store.state.model) this.store.set({ model: this.models[0].name }, true);
    else this.#load();
    return undefined;
  }

  get about() {
    return this.models.find(({ name }) => name === this.store.state.model) ?? null;
  }

  get dark() {
    const { theme } = this.store.state;
    return theme ? theme === "dark" : this.media.matches;
  }

  inks() {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(["ink", "soft", "line", "edge", "paper", "accent", "mark"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]).concat([["stroke", style.getPropertyValue("--accent").trim()]]));
  }

  // Somebody wants a text to be looked at.
  look(query) {
    if (!query.text.trim()) return this.notice.tell(new Trouble("empty"));
    const next = { ...query, ask: null, read: null, step: null };
    const before = written(this.store.state);
    this.store.set(next);
    if (written(this.store.state) === before) this.#load(); // the same once more: perhaps the server is back
    return undefined;
  }

  #changed(state, before) {
    this.#dress();
    if (this.live && QUERY.some((key) => state[key] !== before[key])) this.#load();
    this.redraw();
  }

  // Asks the server for what the address says.
  async #load() {
    const { state } = this.store;
    const about = this.about;
    if (!about) {
      this.notice.tell(new Trouble("model_not_found"));
      return this.redraw();
    }
    if (!state.text && about.examples.length) return this.store.set({ text: about.examples[0] }, true);
    this.request?.abort();
    if (!state.text) return this.redraw();
    const request = (this.request = new AbortController());
    this.busy = true;
    this.redraw();
    try {
      const found = about.attends ? await this.#fetched(state, request.signal) : await this.plain.fetch(about, state, request.signal);
      if (request !== this.request) return undefined;
      this.trace = found;
      this.notice.clear();
      const grows = found.families?.includes("decoder.align") && state.step === null;
      if (grows) requestAnimationFrame(() => requestAnimationFrame(() => this.looking.growing.play()));
    } catch (error) {
      if (error.name !== "AbortError" && request === this.request) this.trouble(error, () => this.#load());
    } finally {
      if (request === this.request) this.busy = false;
      this.redraw();
    }
    return undefined;
  }

  async #fetched(state, signal) {
    const asked = Object.fromEntries(QUERY.map((key) => [key, state[key]]));
    const first = await this.remote.attention({ ...asked, format: "float16", most: AT_ONCE }, signal);
    const long = Math.max(...Object.values(first.told.all).flatMap(({ shape }) => shape.slice(1)));
    if (long > MOST_TOKENS) throw Object.assign(new Trouble("tooMany"), { count: long });
    return new Trace(first, (name, exact) => this.remote.attention({ ...asked, name, format: exact ? "float16" : "uint8" }));
  }

  // What the tabs need to know of what is around a trace. can: whether the model has a verb of that name.
  around() {
    const { about, store: { state } } = this;
    const query = Object.fromEntries(QUERY.map((key) => [key, state[key]]));
    const can = (verb) => this.live && Boolean(about?.verbs.some((one) => one === verb || one.endsWith(`/${verb}`)));
    return { about, can, query, models: this.models, continues: Boolean(about?.verbs.includes("complete")), ask: (asked) => this.look(asked) };
  }

  // In which ways weights can be seen: rollout and the size of values are for models that attend in layers.
  hows(trace, { family, axes }) {
    if (!this.around().can("workings")) return ["raw"];
    const layered = family !== "decoder.align" && trace.attentions.some(({ layer }) => layer !== null);
    if (!layered) return ["raw", "norm"];
    return axes[0] === "prediction" && axes[1] === "text" ? ["raw", "norm"] : ["raw", "rollout", "norm"];
  }

  // The trace itself, or the same as rollout or with the size of values; null while that is fetched.
  seenAs(trace, how) {
    const view = { rollout: "rollout", norm: "norms" }[how];
    if (!view || !this.live) return trace;
    if (this.seen?.of !== trace || this.seen.how !== how) {
      const asked = { ...this.around().query, view };
      const more = (name, exact) => this.remote.attention({ ...asked, name, format: exact ? "float16" : "uint8" });
      this.seen = { of: trace, how, trace: null };
      const waiting = this.seen;
      this.remote.attention({ ...asked, format: "float16", most: AT_ONCE }).then((found) => { waiting.trace = new Trace(found, more); this.redraw(); }, (error) => { this.trouble(error); this.store.set({ how: "raw" }, true); });
    }
    return this.seen.trace;
  }

  // More of a trace; when it is here, all is drawn again.
  fetch(trace, name, exact) {
    trace.need(name, exact).then(() => this.redraw(), (error) => this.trouble(error));
  }

  trouble(error, again = null) {
    if (error.code === "invalid_api_key") return this.notice.ask(true, (key) => { this.remote.unlock(key); this.notice.clear(); this.#load(); });
    if (error.code === "tooMany") {
      error.hint = say("tooManyDo", { most: MOST_TOKENS });
      error.found = say("tokens", { n: error.count });
    }
    return this.notice.tell(error, again);
  }

  // The page as a file.
  async page() {
    const view = Object.fromEntries(new URLSearchParams(written({ ...this.store.state, model: "", text: "", second: null, generate: 0 })));
    const quoted = JSON.stringify(view).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
    const asked = Object.fromEntries(QUERY.map((key) => [key, this.store.state[key]]));
    const source = this.live ? await (await this.remote.ask("/attention", { ...asked, format: "html" })).text() : this.held.source;
    return source.replace(/(id="trace" data-view=")[^"]*"/, (_, before) => `${before}${quoted}"`);
  }

  #dress() {
    const { lang, theme } = this.store.state;
    setLanguage(lang || (navigator.language?.startsWith("zh") ? "zh" : "en"));
    document.documentElement.dataset.theme = theme || (this.media.matches ? "dark" : "light");
  }

  // Once in a frame, however often it is asked for.
  redraw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      try {
        this.#draw();
      } catch (error) {
        this.notice.tell(error);
        throw error;
      }
    });
  }

  #draw() {
    const { state } = this.store;
    this.#dress();
    this.top.update(state, this.models, this.trace?.meta.model ?? "");
    if (this.live && this.about) this.asking.update(state, this.about, Boolean(this.busy));
    this.content.classList.toggle("waiting", Boolean(this.busy));
    if (!this.trace) return;
    const view = this.trace instanceof Trace ? this.looking : this.plain;
    if (this.content.firstChild !== view.box) fill(this.content, view.box);
    view.update(this.trace, state);
  }
}
