/**
 * Files that a model may load: files of its own folder that the server listed, from the content origin.
 * Other addresses and paths get an empty picture instead, and are listed by name.
 */

import { LoadingManager, type Material, type Object3D, Texture } from "three";
import { materialsOf } from "./facts.ts";

/** Prefix that loaders put before every name in a model. */
export const NEAR = "beside:";
const EMPTY =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
/** One white pixel, uncompressed. */
const EMPTY_TGA = "data:image/x-tga;base64,AAACAAAAAAAAAAAAAQABABgA////";

export class Fence {
  readonly manager = new LoadingManager();
  /** Named by the model, but not among the delivered files. */
  readonly missing = new Set<string>();
  /** Outside the folder: addresses and such. */
  readonly refused = new Set<string>();
  /** Delivered, but not pictures. */
  readonly broken = new Set<string>();
  private readonly own = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private waiting = 0;
  private readonly idle: (() => void)[] = [];

  /** `find`: the address of a file by its name as written in the model. */
  constructor(private readonly find: (name: string) => string | undefined) {
    const { itemStart, itemEnd, itemError } = this.manager;
    this.manager.itemStart = (url) => {
      this.waiting++;
      itemStart(url);
    };
    this.manager.itemEnd = (url) => {
      itemEnd(url);
      if (--this.waiting === 0) for (const done of this.idle.splice(0)) done();
    };
    this.manager.itemError = (url) => {
      if (this.names.has(url)) this.broken.add(this.names.get(url) ?? "");
      itemError(url);
    };
    this.manager.setURLModifier((url) => this.address(url));
  }

  /** Allow one of our decoders to be loaded by name. */
  allow(name: string, url: string): void {
    this.own.set(name, url);
  }

  has(name: string): boolean {
    return name.startsWith("data:") || this.near(name) !== undefined;
  }

  /** Wait until all loading has ended; pictures arrive after the model. */
  async settled(): Promise<void> {
    while (this.waiting > 0) await new Promise<void>((done) => this.idle.push(done));
  }

  /** Map an address requested by a loader to the allowed one. */
  address(url: string): string {
    const ours = this.own.get(url);
    if (ours !== undefined) return ours;
    if (/^(data|blob):/i.test(url)) return url;
    const written = url.startsWith(NEAR) ? url.slice(NEAR.length) : url;
    const found = this.near(written);
    if (found !== undefined) {
      this.names.set(found, written);
      return found;
    }
    const away = /^([a-z][a-z0-9+.-]*:|\/|\\)/i.test(written) || /(^|[\\/])\.\.([\\/]|$)/.test(written);
    (away ? this.refused : this.missing).add(written.slice(0, 300));
    return /\.tga$/i.test(written) ? EMPTY_TGA : EMPTY;
  }

  private near(written: string): string | undefined {
    const plain = decoded(written);
    return this.find(plain) ?? this.find(written) ?? this.find(plain.replaceAll("\\", "/").replace(/^\.\//, ""));
  }

  /** Remove empty pictures, so that a model without a texture shows its plain colour. */
  strip(root: Object3D): void {
    for (const material of materialsOf(root)) {
      for (const [key, value] of Object.entries(material)) {
        if (value instanceof Texture && empty(value, this.broken.size > 0)) {
          (material as Material & Record<string, unknown>)[key] = null;
          value.dispose();
          material.needsUpdate = true;
        }
      }
    }
  }
}

function empty(texture: Texture, broken: boolean): boolean {
  const image = texture.image as { src?: string; width?: number; height?: number; naturalWidth?: number } | null;
  if (!image) return true;
  if (typeof image.src === "string") return image.src === EMPTY || (broken && image.naturalWidth === 0);
  return "isDataTexture" in texture && image.width === 1 && image.height === 1;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
