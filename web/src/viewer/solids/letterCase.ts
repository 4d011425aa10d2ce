/** Lower-case PLY and OBJ for three.js, since some programs write keywords in capitals. */

const LONGEST = 65_536;
const END = /^[ \t]*end_header[ \t]*(\r\n|\r|\n)/im;
const WORDS = /^([ \t]*)(V|VT|VN|VP|F|L|P|O|G|S|USEMTL|MTLLIB)(?=[ \t])/gm;

/** Return the PLY with a lower-case header; unchanged if it is already. */
export function plyInSmallLetters(data: ArrayBuffer): ArrayBuffer {
  const start = new TextDecoder("latin1").decode(data.slice(0, LONGEST));
  const end = END.exec(start);
  if (!/^ply\s/i.test(start) || !end || (start.startsWith("ply") && end[0].includes("end_header"))) return data;
  const small = new Uint8Array(data.slice(0));
  for (let n = 0; n < end.index + end[0].length; n++) if (small[n]! >= 65 && small[n]! <= 90) small[n]! += 32;
  return small.buffer;
}

/** Return the OBJ with lower-case keywords; names stay as they are. */
export function objInSmallLetters(text: string): string {
  return text.replace(WORDS, (_, blank: string, word: string) => blank + word.toLowerCase());
}
