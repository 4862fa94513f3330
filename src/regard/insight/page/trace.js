// Who looked where: rows of tokens, and for each attention its weights. The same for a live model, a saved page and a notebook.

const SPACES = { "\n": "↵", "\t": "⇥" };

export function labelOf(token) {
  return token.text.trim() || SPACES[token.text[0]] || "␣";
}

let traces = 0;

export class Trace {
  // told: rows, axes, meta, all (what there is); more(name, exact): fetches what is not there yet
  constructor({ told, tensors }, more = null) {
    this.id = ++traces;
    this.rows = told.rows;
    this.meta = told.meta;
    this.more = more;
    this.pictures = new Map(); // name → uint8
    this.numbers = new Map();  // name → float32
    this.waiting = new Map();
    this.attentions = Object.entries(told.all).map(([name, { axes, shape }]) => attentionOf(name, axes, shape));
    this.take(tensors);
  }

  take(tensors) {
    for (const [name, { data }] of Object.entries(tensors)) {
      (data instanceof Uint8Array ? this.pictures : this.numbers).set(name, data);
    }
  }

  get(name) {
    return this.attentions.find((one) => one.name === name);
  }

  get families() {
    return [...new Set(this.attentions.map((one) => one.family))];
  }

  layers(family) {
    return this.attentions.filter((one) => one.family === family);
  }

  has(name, exact = false) {
    return this.numbers.has(name) || (!exact && this.pictures.has(name));
  }

  // Weights (head, asks, reads), as exact as they are here, and what stands for 1.
  weights(name) {
    if (this.numbers.has(name)) return { data: this.numbers.get(name), one: 1 };
    return this.pictures.has(name) ? { data: this.pictures.get(name), one: 255 } : null;
  }

  // The same for pictures in small: the coarser ones, if there are both, which are quicker to go through.
  rough(name) {
    return this.pictures.has(name) ? { data: this.pictures.get(name), one: 255 } : this.weights(name);
  }

  // Until the weights of an attention are here. What is being fetched is not fetched twice.
  async need(name, exact = false) {
    if (this.has(name, exact) || (!this.more && this.has(name))) return;
    const key = `${name} ${exact}`;
    if (!this.waiting.has(key)) {
      this.waiting.set(key, this.more(name, exact).then(({ tensors }) => this.take(tensors)).finally(() => this.waiting.delete(key)));
    }
    await this.waiting.get(key);
  }

  get complete() {
    return this.attentions.every(({ name }) => this.has(name));
  }
}

// "decoder.2.cross" → family decoder.cross, layer 2; "decoder.align" → family decoder.align, layer null
function attentionOf(name, axes, [heads, T, S]) {
  const parts = name.split(".");
  const layer = parts.find((part) => /^\d+$/.test(part));
  const family = parts.filter((part) => part !== layer).join(".");
  return {
    name, axes, heads, T, S, family,
    causal: family.startsWith("decoder") && family.endsWith("self"), // a decoder does not see what comes later
    layer: layer === undefined ? null : Number(layer),
  };
}

// The family that says most to somebody who sees it for the first time.
export function firstFamily(trace) {
  const wanted = ["align", "cross", "pool"];
  const found = wanted.flatMap((part) => trace.families.filter((family) => family.includes(part)));
  return found[0] ?? trace.families.at(-1) ?? null;
}

// What the address means: where it says nothing, or nothing that is there, the page chooses.
export function chosenAttention(trace, state) {
  const family = trace.families.includes(state.family) ? state.family : firstFamily(trace);
  const layers = trace.layers(family);
  return layers.find(({ layer }) => layer === state.layer) ?? layers.at(-1);
}
