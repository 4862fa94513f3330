// Reads a safetensors file (8 bytes: the size of a JSON header; the header; the numbers), and what a saved page holds.

let halves = null;

// The float32 of each of the 65,536 float16 numbers.
function halfTable() {
  if (halves) return halves;
  halves = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) halves[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) halves[bits] = fraction ? NaN : sign * Infinity;
    else halves[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return halves;
}

export function fromHalves(numbers) {
  const table = halfTable();
  const found = new Float32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) found[i] = table[numbers[i]];
  return found;
}

const READERS = {
  U8: (buffer, begin, end) => new Uint8Array(buffer, begin, end - begin),
  F16: (buffer, begin, end) => fromHalves(new Uint16Array(buffer.slice(begin, end))),
  F32: (buffer, begin, end) => new Float32Array(buffer.slice(begin, end)),
};

// { told: what the metadata holds, tensors: { name: { shape, data } } }; data: uint8 (255 is 1), or float32
export function unpacked(buffer) {
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const { __metadata__: metadata = {}, ...listed } = header;
  const told = Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, JSON.parse(text)]));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [begin, end] }] of Object.entries(listed)) {
    tensors[name] = { shape, data: READERS[dtype](buffer, 8 + size + begin, 8 + size + end) };
  }
  return { told, tensors };
}

// The bytes of a saved page: base64 of what zlib has packed.
export async function inflated(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
