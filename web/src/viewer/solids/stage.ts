/** A model on a canvas. It is drawn only after changes, never in a loop, to save power. */

import {
  AmbientLight, AnimationMixer, type Box3, Color, DirectionalLight, DoubleSide, GridHelper, Group, Light, type Material,
  type MeshStandardMaterial, type AnimationClip, PerspectiveCamera, Raycaster, Scene, type Side as Sides, Vector2,
  type WebGLRenderer, type Intersection,
} from "three"; // prettier-ignore
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Eye } from "./camera.ts";
import { dispose, drawn, factsOf, materialsOf, type Facts } from "./facts.ts";
import type { Loaded } from "./loaded.ts";
import { studio } from "./studio.ts";

/** Above this number of triangles, high-resolution screens get one sample per CSS pixel. */
const HEAVY = 2_000_000;

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly eye: Eye;
  facts: Facts | undefined;
  /** Called after each picture. */
  onDraw: (() => void) | undefined;
  onMove: (() => void) | undefined;
  private readonly camera = new PerspectiveCamera(40, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly holder = new Group();
  private loaded: Loaded | undefined;
  private grid: GridHelper | undefined;
  private mixer: AnimationMixer | undefined;
  private readonly sides = new Map<Material, Sides>();
  private frame = 0;
  private busy: WebGLSync | null = null;
  private last = 0;
  playing = false;
  /** Whether it is drawn without a graphics card, in simple light. */
  readonly slow: boolean;

  /** Throws if the browser has no WebGL 2. */
  constructor() {
    const { canvas, renderer, room, slow } = studio();
    this.slow = slow;
    [this.canvas, this.renderer, this.scene.environment] = [canvas, renderer, room];
    this.eye = new Eye(this.camera);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => {
      this.eye.target.copy(this.controls.target);
      this.eye.look();
      this.draw();
      this.onMove?.();
    });
    this.light();
  }

  /** A lamp at the camera, for materials that the environment does not light, and to distinguish edges from faces. */
  private light(): void {
    this.scene.environmentIntensity = 0.4;
    const lamp = new DirectionalLight(0xffffff, this.slow ? 2 : 1.5);
    lamp.position.set(0.6, 1, 1.2);
    this.camera.add(lamp, lamp.target);
    this.scene.add(this.camera, new AmbientLight(0xffffff, this.slow ? 1.6 : 0.5), this.holder);
  }

  /** Show a model. Throws if the model is faulty. */
  put(loaded: Loaded): Facts {
    this.clear();
    this.facts = factsOf(loaded.root);
    this.loaded = loaded;
    // Remove the file's own lamps, which can have any strength.
    loaded.root.traverse((object) => {
      if (object instanceof Light) object.visible = false;
    });
    // Metal without an environment to reflect would be black.
    if (this.slow) for (const material of this.materials()) if ("metalness" in material) material.metalness = 0.2;
    this.holder.add(loaded.root);
    this.turned(loaded.up);
    if (loaded.clips.length) this.mixer = new AnimationMixer(loaded.root);
    return this.facts;
  }

  /** The axis of the file that points up. */
  turned(up: "y" | "z"): void {
    this.holder.rotation.set(up === "z" ? -Math.PI / 2 : 0, 0, 0);
    this.holder.updateMatrixWorld(true);
    this.eye.about(this.box);
    this.fit("corner");
    if (this.grid) this.floor(true);
  }

  private get box(): Box3 {
    const box = this.facts?.box.clone();
    if (!box) throw new Error("There is no model yet.");
    return box.applyMatrix4(this.holder.matrixWorld);
  }

  fit(side?: "front" | "side" | "top" | "corner"): void {
    this.eye.fit(side);
    this.moved();
  }

  /** Update after the camera was moved by anything but the mouse. */
  moved(quiet = false): void {
    this.controls.target.copy(this.eye.target);
    this.draw();
    if (!quiet) this.onMove?.();
  }

  resize(width: number, height: number): void {
    if (width < 1 || height < 1) return;
    const heavy = this.slow || (this.facts?.triangles ?? 0) > HEAVY;
    this.renderer.setPixelRatio(heavy ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
  }

  background(colour: string): void {
    this.scene.background = new Color(colour);
    if (this.grid) this.floor(true);
    this.draw();
  }

  wires(on: boolean): void {
    for (const material of this.materials()) if ("wireframe" in material) (material as MeshStandardMaterial).wireframe = on;
    this.draw();
  }

  bothSides(on: boolean): void {
    for (const material of this.materials()) {
      if (!this.sides.has(material)) this.sides.set(material, material.side);
      material.side = on ? DoubleSide : (this.sides.get(material) ?? material.side);
      material.needsUpdate = true;
    }
    this.draw();
  }

  private materials(): Set<Material> {
    return this.loaded ? materialsOf(this.loaded.root) : new Set();
  }

  /** Draw a floor grid; return a cell's side, a power of ten in the file's unit. */
  floor(on: boolean): number {
    if (this.grid) this.scene.remove(this.grid);
    this.grid?.dispose();
    this.grid = undefined;
    this.draw();
    if (!on || !this.facts) return 0;
    const box = this.box;
    const reach = Math.max(box.max.x - box.min.x, box.max.z - box.min.z) || this.eye.radius;
    const cell = 10 ** Math.round(Math.log10(reach / 8));
    const cells = Math.min(200, 2 * Math.ceil((reach * 0.75) / cell));
    const dark = (this.scene.background as Color | null)?.getHSL({ h: 0, s: 0, l: 0 }).l ?? 1;
    const line = dark < 0.5 ? 0x4a525e : 0xaeb5c0;
    this.grid = new GridHelper(cells * cell, cells, line, line);
    const round = (value: number) => Math.round(value / cell) * cell;
    this.grid.position.set(
      round((box.min.x + box.max.x) / 2),
      box.min.y - this.eye.radius * 1e-3,
      round((box.min.z + box.max.z) / 2),
    );
    this.scene.add(this.grid);
    return cell;
  }

  play(clip: AnimationClip | undefined): void {
    this.mixer?.stopAllAction();
    this.playing = clip !== undefined;
    if (clip) this.mixer?.clipAction(clip).reset().play();
    this.last = performance.now();
    this.draw();
  }

  /** Show the chosen clip at a time in seconds. */
  moment(clip: AnimationClip, seconds: number): void {
    this.playing = false;
    this.mixer?.clipAction(clip).play();
    this.mixer?.setTime(seconds);
    this.draw();
  }

  get time(): number {
    return this.mixer?.time ?? 0;
  }

  /** Return the nearest surface under the pointer. */
  under(x: number, y: number): Intersection | undefined {
    const { width, height, left, top } = this.canvas.getBoundingClientRect();
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(((x - left) / width) * 2 - 1, 1 - ((y - top) / height) * 2), this.camera);
    const seen = this.loaded ? [...drawn(this.loaded.root)].filter((object) => object.visible) : [];
    return ray.intersectObjects(seen, false)[0];
  }

  draw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      // Pictures queued for a slow graphics card would block the page's keys.
      if (this.drawing()) return void setTimeout(() => this.draw(), 15);
      if (this.playing) {
        this.mixer?.update(Math.min(0.1, (now - this.last) / 1000));
        this.last = now;
      }
      this.render();
      if (this.playing) this.draw();
    });
  }

  /** Whether the last picture is still being drawn. */
  private drawing(): boolean {
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    if (!this.busy || gl.isContextLost()) return false;
    if (gl.getSyncParameter(this.busy, gl.SYNC_STATUS) !== gl.SIGNALED) return true;
    gl.deleteSync(this.busy);
    this.busy = null;
    return false;
  }

  render(): void {
    if (!this.loaded) return;
    this.renderer.render(this.scene, this.camera);
    const gl = this.renderer.getContext() as WebGL2RenderingContext;
    gl.deleteSync(this.busy);
    this.busy = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    this.onDraw?.();
  }

  private clear(): void {
    this.mixer?.stopAllAction();
    this.mixer = undefined;
    if (!this.loaded) return;
    this.holder.remove(this.loaded.root);
    dispose(this.loaded.root);
    this.loaded = undefined;
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.playing = false;
    [this.onDraw, this.onMove] = [undefined, undefined];
    this.clear();
    this.grid?.dispose();
    (this.renderer.getContext() as WebGL2RenderingContext).deleteSync(this.busy);
    this.controls.dispose();
    this.renderer.renderLists.dispose();
  }
}
