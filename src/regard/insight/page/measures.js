// What a head does, in four figures, and its picture in small; one pass over its weights.

export const SORTS = ["diagonal", "previous", "sink", "entropy"];
const GRAIN = 0xffff;
const PLOGP = Float64Array.from({ length: GRAIN + 1 }, (_, i) => (i ? (-i / GRAIN) * Math.log(i / GRAIN) : 0)); // a logarithm for each weight would take longer than all else

// attention: its shape and rows; data, one: its weights; causal: no row looks behind its place; size: pixels of a side of
// the small picture
export function measured({ heads, T, S, axes, causal }, { data, one }, size) {
  const own = axes[0] === axes[1] || causal;
  const place = (t) => (own ? t + S - T : T > 1 ? Math.round((t * (S - 1)) / (T - 1)) : -1);
  return Array.from({ length: heads }, (_, h) => measuredHead(data.subarray(h * T * S, (h + 1) * T * S), one, T, S, place, causal, size));
}

// A row that stands at the first place has nothing before it, so it is left out of all means.
function measuredHead(values, one, T, S, place, causal, size) {
  const high = Math.min(size, T), wide = Math.min(size, S);
  const small = new Float32Array(high * wide), sums = new Float64Array(S);
  const from = Int32Array.from({ length: wide + 1 }, (_, p) => Math.ceil((p * S) / wide)), step = GRAIN / one; // of each pixel the first token
  let diagonal = 0, previous = 0, entropy = 0, rows = 0;
  for (let t = 0; t < T; t++) {
    const begin = t * S, line = Math.floor((t * high) / T) * wide, at = place(t), counts = at !== 0;
    let mixed = 0;
    for (let p = 0; p < wide; p++) {
      let most = 0;
      for (let s = from[p]; s < from[p + 1]; s++) {
        const value = values[begin + s];
        if (value === 0) continue;
        if (counts) sums[s] += value;
        mixed += PLOGP[(value * step + 0.5) | 0];
        if (value > most) most = value;
      }
      if (most > small[line + p]) small[line + p] = most;
    }
    if (!counts) continue;
    rows += 1;
    entropy += mixed / Math.log(Math.max(2, causal ? at + 1 : S));
    if (at < 0) continue;
    diagonal += values[begin + at];
    previous += values[begin + at - 1];
  }
  let sink = 0;
  for (let s = 0; s < S; s++) sink = Math.max(sink, sums[s]);
  for (let i = 0; i < small.length; i++) small[i] /= one;
  rows ||= 1;
  const found = { diagonal: diagonal / one / rows, previous: previous / one / rows, sink: sink / one / rows, entropy: entropy / rows };
  return { ...found, tag: tagOf(found), small, high, wide };
}

// The one word that fits a head best; none if none does.
function tagOf({ diagonal, previous, sink, entropy }) {
  const best = [["previous", previous], ["diagonal", diagonal], ["sink", sink]].sort((a, b) => b[1] - a[1])[0];
  if (best[1] >= 0.4) return best[0];
  return entropy >= 0.85 ? "even" : "";
}
