// Lines from who asks to what is read: two rows under each other where both fit into one line, else two columns.

import { breadthOf, clipped } from "./pen.js";
import { ranked } from "./sheet.js";

const TEXT = 15, GAP = 14, MOST_LINES = 3000, LEAST = 0.02;

export function linesPlan(sheet, room, titles) {
  const asks = sheet.asks.labels.map((text) => breadthOf(text, TEXT) + GAP);
  const reads = sheet.reads.labels.map((text) => breadthOf(text, TEXT) + GAP);
  const long = Math.max(sum(asks), sum(reads));
  return long + 24 <= room ? across(sheet, asks, reads, room, titles) : down(sheet, room, titles);
}

function across(sheet, asks, reads, room, titles) {
  const place = (breadths) => {
    let x = (room - sum(breadths)) / 2;
    return breadths.map((wide) => (x += wide) - wide / 2);
  };
  const height = 250;
  return {
    across: true, width: room, height, titles, size: TEXT, step: 1,
    reads: place(reads).map((x) => ({ x, y: 44 })), asks: place(asks).map((x) => ({ x, y: height - 44 })),
    from: { x: 0, y: -13 }, to: { x: 0, y: 13 }, bend: 70,
  };
}

function down(sheet, room, titles) {
  const count = Math.max(sheet.T, sheet.S, 1);
  const line = Math.max(1.5, Math.min(24, 1500 / count));
  const wide = Math.min(room, 620);
  const side = Math.min(150, wide * 0.32);
  const left = (room - wide) / 2;
  const places = (length, x) => Array.from({ length }, (_, i) => ({ x, y: 40 + (i + 0.5) * line + ((count - length) * line) / 2 * 0 }));
  return {
    across: false, width: room, height: 52 + count * line, titles, size: Math.max(10, Math.min(14, line * 0.7)), side,
    step: Math.max(1, Math.ceil(12 / line)), line,
    asks: places(sheet.T, left + side), reads: places(sheet.S, left + wide - side),
    from: { x: 10, y: 0 }, to: { x: -10, y: 0 }, bend: (wide - 2 * side) * 0.4,
  };
}

export function drawLines(pen, sheet, plan, look, rows = sheet.T, min = 0) {
  for (const { t, s, weight } of strongest(sheet, rows, Math.max(min, LEAST))) {
    curved(pen, plan, t, s, look.level(weight), look.stroke, 0.75);
  }
  named(pen, sheet, plan, look, rows);
}

// Only what one token gives, or gets.
export function drawLinesOver(pen, sheet, plan, { ask, read }, look, min = 0) {
  const which = ask !== null ? { ask } : { read };
  for (const { weight, place } of ranked(sheet, which, 200, Math.max(min, 0.004))) {
    const [t, s] = ask !== null ? [ask, place] : [place, read];
    if (ask !== null && read !== null && s !== read) continue;
    curved(pen, plan, t, s, Math.max(0.15, look.level(weight)), look.accent, 1);
  }
  const marks = [[ask, plan.asks, sheet.asks, "right"], [read, plan.reads, sheet.reads, "left"]];
  for (const [at, points, side, align] of marks) if (at !== null) marked(pen, plan, points[at], side.labels[at], align, look);
}

function strongest(sheet, rows, least) {
  const found = [];
  for (let i = 0; i < Math.min(rows, sheet.T) * sheet.S; i++) {
    if (sheet.values[i] >= least) found.push({ t: Math.floor(i / sheet.S), s: i % sheet.S, weight: sheet.values[i] });
  }
  found.sort((a, b) => a.weight - b.weight);
  return found.slice(-MOST_LINES);
}

function curved(pen, { asks, reads, from, to, bend, across }, t, s, level, stroke, alpha) {
  const [x1, y1] = [asks[t].x + from.x, asks[t].y + from.y];
  const [x2, y2] = [reads[s].x + to.x, reads[s].y + to.y];
  const points = across ? [x1, y1, x1, y1 - bend, x2, y2 + bend, x2, y2] : [x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2];
  pen.curve(points, { stroke, thick: 0.6 + 3.4 * level, alpha: Math.min(1, alpha * (0.12 + 0.88 * level)) });
}

function named(pen, sheet, plan, { ink, soft }, rows) {
  const { across, asks, reads, size, step, side, titles } = plan;
  const write = ({ labels, units }, points, align, count) => {
    for (let i = 0; i < Math.min(points.length, count); i += step) {
      const text = across ? labels[i] : clipped(labels[i], side - 8, size);
      pen.text(text, points[i].x, points[i].y, { size, align, fill: units[i].special ? soft : ink });
    }
  };
  write(sheet.asks, asks, across ? "center" : "right", rows);
  write(sheet.reads, reads, across ? "center" : "left", sheet.S);
  if (across) {
    pen.text(titles.reads, plan.width / 2, 14, { size: 12, fill: soft, align: "center" });
    pen.text(titles.asks, plan.width / 2, plan.height - 14, { size: 12, fill: soft, align: "center" });
  } else {
    pen.text(titles.asks, asks[0]?.x ?? 0, 16, { size: 12, fill: soft, align: "right" });
    pen.text(titles.reads, reads[0]?.x ?? 0, 16, { size: 12, fill: soft });
  }
}

function marked(pen, { across, size }, { x, y }, text, align, { accent, paper }) {
  const wide = breadthOf(text, size) + 10;
  const begin = across ? x - wide / 2 : align === "right" ? x - wide + 5 : x - 5;
  pen.rect(begin, y - size * 0.8, wide, size * 1.6, { fill: accent });
  pen.text(text, x, y, { size, align: across ? "center" : align, fill: paper });
}

// The token at a point; null where there is none.
export function linesAt(plan, x, y) {
  const near = (points, far) => {
    let best = null, least = far;
    points.forEach((point, place) => {
      const away = plan.across ? Math.abs(point.x - x) : Math.abs(point.y - y);
      if (away < least) [best, least] = [place, away];
    });
    return best;
  };
  if (plan.across) {
    if (y > plan.height - 80) return { ask: near(plan.asks, 60), read: null };
    return y < 80 ? { ask: null, read: near(plan.reads, 60) } : null;
  }
  const middle = (plan.asks[0]?.x + plan.reads[0]?.x) / 2;
  return x < middle - 40 ? { ask: near(plan.asks, plan.line), read: null } : x > middle + 40 ? { ask: null, read: near(plan.reads, plan.line) } : null;
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
