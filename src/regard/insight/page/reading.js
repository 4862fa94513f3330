// A matrix in plain words.

import { starred } from "./dom.js";
import { ranked } from "./sheet.js";
import { figure, listed, say } from "./words.js";

// Where one token looks: "*bank* gives 0.61 to *river*, 0.20 to *the*"; who looks at it; or what one gives the other.
export function described(sheet, { ask, read }, even = null) {
  const asks = ask === null ? "" : starred(sheet.asks.labels[ask]);
  const reads = read === null ? "" : starred(sheet.reads.labels[read]);
  if (ask !== null && read !== null) {
    const weight = sheet.values[ask * sheet.S + read];
    const told = say("gives", { asks, shares: share(weight, reads) });
    return even ? `${told}${times(weight, even.values[ask * sheet.S + read])}` : told;
  }
  if (ask !== null) {
    const shares = ranked(sheet, { ask }).map(({ weight, place }) => share(weight, starred(sheet.reads.labels[place])));
    const told = shares.length ? say("gives", { asks, shares: listed(shares) }) : say("givesNothing", { asks });
    return sheet.hidden[ask] >= 0.005 ? `${told}${say("hiddenHere", { weight: figure(sheet.hidden[ask]) })}` : told;
  }
  if (read === null) return "";
  const shares = ranked(sheet, { read }).map(({ weight, place }) => say("from", { weight: figure(weight), asks: starred(sheet.asks.labels[place]) }));
  return shares.length ? say("gets", { reads, shares: listed(shares) }) : say("getsNothing", { reads });
}

const share = (weight, reads) => say("to", { weight: figure(weight), reads });

function times(weight, even) {
  if (!even) return "";
  return say("times", { times: (weight / even).toFixed(1), even: figure(even) });
}

// What the marks that are not shown hold, of all.
export function hiddenShare(sheet) {
  if (!sheet.T) return 0;
  return sheet.hidden.reduce((sum, one) => sum + one, 0) / sheet.T;
}

// The token that a newcomer sees first: the one whose look goes furthest from its own place, since that is what attention
// is for. Marks and punctuation do not count.
export function firstToken(sheet) {
  const words = (side) => side.units.map(({ special, label }) => !special && /[\p{L}\p{N}]/u.test(label));
  const [asking, read] = [words(sheet.asks), words(sheet.reads)];
  let best = null, most = -1;
  for (let t = 0; t < sheet.T; t++) {
    if (!asking[t]) continue;
    for (let s = 0; s < sheet.S; s++) {
      const far = read[s] ? sheet.values[t * sheet.S + s] * Math.abs(s / sheet.S - t / sheet.T) : 0;
      if (far > most) [best, most] = [t, far];
    }
  }
  return best;
}
