// A model without attention: says so, and shows what it has instead.

import { el, fill } from "./dom.js";
import { figure, say } from "./words.js";

export class Plain {
  constructor() {
    this.box = el("section", { class: "plain" });
  }

  // What it answers: a translation or a class.
  async fetch(remote, about, { text }, signal) {
    if (about.verbs.includes("translate")) {
      const [source, target] = about.langs;
      const told = await remote.json("/translate", { q: text, source, target }, signal);
      return { meta: { model: about.name }, text, said: told.translatedText };
    }
    const told = await remote.json("/classify", { model: about.name, texts: [text] }, signal);
    const [{ label, probability }] = told.classes;
    return { meta: { model: about.name }, text, label, probability };
  }

  update(found) {
    const said = found.said ?? say("class", { label: found.label, p: figure(found.probability) });
    fill(this.box, el("h2", {}, say("none", { model: found.meta.model })), el("p", {}, say(found.said === undefined ? "noneClass" : "noneWhy")),
      el("h3", {}, say("noneInstead")),
      el("div", { class: "funnel" },
        el("div", {}, el("span", { class: "side" }, say("noneSource")), el("p", { class: "words", dir: "auto" }, found.text)),
        el("div", { class: "vector", role: "img", "aria-label": say("noneVector") }, el("span", {}, say("noneVector"))),
        el("div", {}, el("span", { class: "side" }, say("noneTarget")), el("p", { class: "words", dir: "auto", id: "answer" }, said))));
  }
}
