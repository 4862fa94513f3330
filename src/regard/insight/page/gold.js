// Links between words that somebody has made by hand, over those that a model makes.

// "0-0 1-2p": source-target, from 0; p: possible only. Gives [target, source, sure].
export function linksOf(text) {
  return [...text.matchAll(/(\d+)-(\d+)(p?)/g)].map(([, source, target, possible]) => [Number(target), Number(source), !possible]);
}

// Each target word is linked to the source word that it gives most (Och and Ney 2003): error rate, precision, recall.
export function scored(sheet, links) {
  const key = (t, s) => t * sheet.S + s;
  const sure = new Set(links.filter(([, , certain]) => certain).map(([t, s]) => key(t, s)));
  const possible = new Set(links.map(([t, s]) => key(t, s)));
  const made = [];
  for (let t = 0; t < sheet.T; t++) {
    let best = 0;
    for (let s = 1; s < sheet.S; s++) if (sheet.values[key(t, s)] > sheet.values[key(t, best)]) best = s;
    made.push(key(t, best));
  }
  const [inSure, inPossible] = [sure, possible].map((some) => made.filter((link) => some.has(link)).length);
  return { aer: 1 - (inSure + inPossible) / (made.length + sure.size), precision: inPossible / made.length, recall: inSure / sure.size };
}

// Links that the server knows of (words by their places in the text), as units of a sheet.
export function linksIn(trace, sheet, { source, target, sure, possible }) {
  const units = (side, name, { start, end }) => side.units.flatMap((unit, place) => {
    const tokens = unit.special ? [] : unit.tokens.map((i) => trace.rows[name].tokens[i]);
    return tokens.some((token) => token.start < end && token.end > start) ? [place] : [];
  });
  const links = (pairs, certain) => pairs.flatMap(([from, to]) => units(sheet.asks, sheet.axes[0], target[to]).flatMap((t) => units(sheet.reads, sheet.axes[1], source[from]).map((s) => [t, s, certain])));
  return [...links(possible, false), ...links(sure, true)];
}
