/** PLY and OBJ as three.js reads them: some programs write their words in large letters. */

const LONGEST = 65_536;
const END = /^[ \t]*end_header[ \t]*(\r\n|\r|\n)/im;
const WORDS = /^([ \t]*)(V|VT|VN|VP|F|L|P|O|G|S|USEMTL|MTLLIB)(?=[ \t])/gm;

/** The same PLY with its header in small letters; one whose header is in small letters already, as it is. */
export function plyInSmallLetters(data: ArrayBuffer): ArrayBuffer {
  const start = new TextDecoder("latin1").decode(data.slice(0, LONGEST));
  const end = END.exec(start);
  if (!/^ply\s/i.test(start) || !end || (start.startsWith("ply") && end[0].includes("end_header"))) return data;
  const small = new Uint8Array(data.slice(0));
  for (let n = 0; n < end.index + end[0].length; n++) if (small[n]! >= 65 && small[n]! <= 90) small[n]! += 32;
  return small.buffer;
}

/** The same OBJ with the words that its lines begin with in small letters; names keep theirs. */
export function objInSmallLetters(text: string): string {
  return text.replace(WORDS, (_, blank: string, word: string) => blank + word.toLowerCase());
}
