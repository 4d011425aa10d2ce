/**
 * The renderer and its light, created once per frame and used for all models in it: a context and its shaders take
 * seconds without a graphics card, and browsers allow few contexts at once.
 */

import { NeutralToneMapping, PMREMGenerator, type Texture, WebGLRenderer } from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";

export interface Studio {
  canvas: HTMLCanvasElement;
  renderer: WebGLRenderer;
  /** Environment light for physical materials. None without a graphics card, since computing it would take twelve seconds. */
  room: Texture | null;
  /** Whether the CPU renders instead of a graphics card. */
  slow: boolean;
}

let open: Studio | undefined;

/** Throws if the browser has no WebGL 2. */
export function studio(): Studio {
  if (open && !open.renderer.getContext().isContextLost()) return open;
  open?.renderer.dispose();
  const slow = software();
  const canvas = document.createElement("canvas");
  const renderer = new WebGLRenderer({ canvas, antialias: !slow });
  renderer.toneMapping = NeutralToneMapping;
  const room = slow ? null : lit(renderer);
  open = { canvas, renderer, room, slow };
  return open;
}

/** A small room for reflections; it only has to show form. */
function lit(renderer: WebGLRenderer): Texture {
  const maker = new PMREMGenerator(renderer);
  const scene = new RoomEnvironment();
  const room = maker.fromScene(scene, 0, 0.1, 100, { size: 128 }).texture;
  scene.dispose();
  maker.dispose();
  return room;
}

function software(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const named = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = String((named && gl?.getParameter(named.UNMASKED_RENDERER_WEBGL)) ?? "");
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
