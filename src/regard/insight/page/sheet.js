// One matrix as it is shown: of a head or the mean of all, by tokens or words, with or without marks such as </s>.

import { labelOf } from "./trace.js";

// The units along a side: tokens, or words of several tokens. `of`: for each token its unit, or -1.
export function unitsOf(row, { words, marks }) {
  const groups = words ? grouped(row) : row.tokens.map((_, i) => [i]);
  const units = groups
    .filter((group) => marks || !row.tokens[group[0]].special)
    .map((group) => ({ tokens: group, special: row.tokens[group[0]].special, label: label(row, group) }));
  const of = new Int32Array(row.tokens.length).fill(-1);
  units.forEach((unit, place) => unit.tokens.forEach((token) => (of[token] = place)));
  return { units, of, labels: units.map((unit) => unit.label), length: units.length };
}

function grouped(row) {
  return row.words.map((start, place) => {
    const end = row.words[place + 1] ?? row.tokens.length;
    return Array.from({ length: end - start }, (_, i) => start + i);
  });
}

function label(row, group) {
  if (group.length === 1) return labelOf(row.tokens[group[0]]);
  const tokens = group.map((i) => row.tokens[i]);
  const letters = Array.from(row.text);
  const text = letters.slice(Math.min(...tokens.map((t) => t.start)), Math.max(...tokens.map((t) => t.end))).join("");
  return labelOf({ text });
}

// head: a number or "mean". Gives values (T S), and for each row what the hidden marks hold.
export function sheetOf(trace, name, head, options) {
  const { axes, heads, T, S } = trace.get(name);
  const { data, one } = trace.weights(name);
  return gathered(trace, axes, merged(data, one, heads, T * S, head), T, S, options);
}

// The same for weights that come from elsewhere: a flat matrix (T S) of tokens.
export function gathered(trace, axes, matrix, T, S, options) {
  const asks = unitsOf(trace.rows[axes[0]], options);
  const reads = unitsOf(trace.rows[axes[1]], options);
  const values = new Float32Array(asks.length * reads.length);
  const hidden = new Float32Array(asks.length);
  asks.units.forEach(({ tokens }, t) => {
    for (const token of tokens) {
      const begin = token * S;
      for (let s = 0; s < S; s++) {
        const weight = matrix[begin + s] / tokens.length;
        const place = reads.of[s];
        if (place < 0) hidden[t] += weight;
        else values[t * reads.length + place] += weight;
      }
    }
  });
  return { axes, asks, reads, values, hidden, T: asks.length, S: reads.length, same: axes[0] === axes[1] };
}

function merged(data, one, heads, size, head) {
  const found = new Float32Array(size);
  const chosen = head === "mean" ? Array.from({ length: heads }, (_, h) => h) : [Math.min(head, heads - 1)];
  const share = 1 / (one * chosen.length);
  for (const h of chosen) {
    const begin = h * size;
    for (let i = 0; i < size; i++) found[i] += data[begin + i];
  }
  for (let i = 0; i < size; i++) found[i] *= share;
  return found;
}

// What even attention would give: each token that may be read the same.
export function evenSheet(trace, name, options) {
  const { axes, T, S, causal } = trace.get(name);
  const matrix = new Float32Array(T * S);
  for (let t = 0; t < T; t++) {
    const may = causal ? S - T + t + 1 : S;
    matrix.fill(1 / may, t * S, t * S + may);
  }
  return gathered(trace, axes, matrix, T, S, options);
}

export function largest(values) {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  return most;
}

// The places of the largest values of a row (ask) or a column (read), the largest first.
export function ranked(sheet, { ask = null, read = null }, most = 3, least = 0.005) {
  const weights = ask !== null
    ? Array.from(sheet.values.subarray(ask * sheet.S, (ask + 1) * sheet.S))
    : Array.from({ length: sheet.T }, (_, t) => sheet.values[t * sheet.S + read]);
  return weights.map((weight, place) => ({ weight, place }))
    .filter(({ weight }) => weight >= least)
    .sort((a, b) => b.weight - a.weight || a.place - b.place)
    .slice(0, most);
}
