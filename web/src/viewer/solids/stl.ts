/** Lower-case text STL for three.js, since some programs write keywords in capitals. */

const HEAD = 80;

/** Return the STL with lower-case keywords; binary or lower-case ones unchanged. */
export function inSmallLetters(data: ArrayBuffer): ArrayBuffer {
  const start = new TextDecoder("latin1").decode(data.slice(0, 4096));
  if (!/^\s*solid\b/i.test(start) || !/\bfacet\s+normal\b/i.test(start) || isBinary(data)) return data;
  if (/^\s*solid\b/.test(start) && /\bfacet\s+normal\b/.test(start)) return data;
  const small = new Uint8Array(data.slice(0));
  for (let n = 0; n < small.length; n++) if (small[n]! >= 65 && small[n]! <= 90) small[n]! += 32;
  return small.buffer;
}

/** Whether the count after a binary STL's header agrees with the number of bytes. */
function isBinary(data: ArrayBuffer): boolean {
  return data.byteLength >= HEAD + 4 && HEAD + 4 + 50 * new DataView(data).getUint32(HEAD, true) === data.byteLength;
}
