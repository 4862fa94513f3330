// Colours for weights. Each palette goes one way in lightness, so it is read alike by every kind of colour vision, and in print.

const STOPS = {
  blue: { light: ["#fdfcf9", "#d8e6f4", "#86b7de", "#2f78bd", "#0b3d78"], dark: ["#191b1f", "#1d3a5c", "#2c6cab", "#7db6ee", "#e8f3ff"] },
  amber: { light: ["#fdfcf9", "#fbe3c2", "#f3ab5c", "#c4681b", "#6d3207"], dark: ["#191b1f", "#4a2c10", "#9a5a1c", "#eda550", "#fff0da"] },
  grey: { light: ["#fdfcf9", "#dcdad5", "#a19e98", "#5d5a55", "#151412"], dark: ["#191b1f", "#3a3c41", "#6d7076", "#aeb1b6", "#f6f6f4"] },
  cividis: { light: ["#fdea45", "#bcae6c", "#7d7c78", "#414d6b", "#00224e"], dark: ["#00224e", "#414d6b", "#7d7c78", "#bcae6c", "#fdea45"] },
};
const BOTH = { light: ["#9a4a06", "#eeb777", "#fdfcf9", "#8fbbe2", "#0f4a8c"], dark: ["#ffc27a", "#8f5314", "#191b1f", "#2c6cab", "#a9d2ff"] };

export const PALETTES = Object.keys(STOPS);

// 256 colours, three bytes each; "both" has nothing in its middle.
export function ramp(palette, dark) {
  const stops = (palette === "both" ? BOTH : STOPS[palette] ?? STOPS.blue)[dark ? "dark" : "light"].map(bytes);
  const found = new Uint8Array(768);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++) found[i * 3 + c] = Math.round(stops[low][c] + (place - low) * (stops[low + 1][c] - stops[low][c]));
  }
  return found;
}

const bytes = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

export function cssColour(colours, level) {
  const i = Math.max(0, Math.min(255, Math.round(level * 255))) * 3;
  return `rgb(${colours[i]},${colours[i + 1]},${colours[i + 2]})`;
}

// Letters that can be read on a colour.
export function inkOn(colours, level) {
  const i = Math.max(0, Math.min(255, Math.round(level * 255))) * 3;
  const [r, g, b] = [0, 1, 2].map((c) => (colours[i + c] / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.25 ? "#16150f" : "#ffffff";
}

// The weight that gets the darkest colour: the largest that is shown, but at least four times an even share, so that attention
// that looks everywhere alike also looks pale.
export const darkest = (most, S) => Math.max(most, Math.min(1, 4 / Math.max(1, S)));

// From a weight to 0…1 of a palette. most: the one that gets the darkest colour.
export const SHADES = {
  most: (most) => (weight) => weight / (most || 1),
  one: () => (weight) => weight,
  root: (most) => (weight) => Math.sqrt(Math.max(0, weight) / (most || 1)),
};

export function pixelsOf(values, level, colours) {
  const found = new Uint8ClampedArray(values.length * 4);
  for (let i = 0; i < values.length; i++) {
    const at = Math.max(0, Math.min(255, Math.round(level(values[i]) * 255))) * 3;
    found[i * 4] = colours[at];
    found[i * 4 + 1] = colours[at + 1];
    found[i * 4 + 2] = colours[at + 2];
    found[i * 4 + 3] = 255;
  }
  return found;
}
