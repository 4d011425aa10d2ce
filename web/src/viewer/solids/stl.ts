/** The text form of STL as three.js reads it: some programs write its words in large letters. */

const HEAD = 80;

/** The same STL with the words of its text form in small letters; a binary one, or one in small letters, as it is. */
export function inSmallLetters(data: ArrayBuffer): ArrayBuffer {
  const start = new TextDecoder("latin1").decode(data.slice(0, 4096));
  if (!/^\s*solid\b/i.test(start) || !/\bfacet\s+normal\b/i.test(start) || isBinary(data)) return data;
  if (/^\s*solid\b/.test(start) && /\bfacet\s+normal\b/.test(start)) return data;
  const small = new Uint8Array(data.slice(0));
  for (let n = 0; n < small.length; n++) if (small[n]! >= 65 && small[n]! <= 90) small[n]! += 32;
  return small.buffer;
}

/** Whether the count behind the header of a binary STL agrees with the number of bytes. */
function isBinary(data: ArrayBuffer): boolean {
  return data.byteLength >= HEAD + 4 && HEAD + 4 + 50 * new DataView(data).getUint32(HEAD, true) === data.byteLength;
}
