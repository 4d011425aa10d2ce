/** Upload files in pieces. If the connection fails, a file is sent again from its beginning. */
import { api, ask, type Schemas } from "../api.ts";

const PIECE = 1_500_000;

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

/** Return the output's files afterwards. Throws a Failure. */
export async function upload(
  slot: string,
  file: File,
  path: string,
  said: (share: number) => void,
): Promise<Schemas["FolderListing"]> {
  let offset = 0;
  for (;;) {
    const end = Math.min(file.size, offset + PIECE);
    const data = base64(new Uint8Array(await file.slice(offset, end).arrayBuffer()));
    const last = end === file.size;
    const body = { path, offset, data, last };
    const found = await ask(api.POST("/api/v1/places/{slot}/files", { params: { path: { slot } }, body }));
    said(file.size ? end / file.size : 1);
    if (last) return found;
    offset = end;
  }
}
