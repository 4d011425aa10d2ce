/** State of a playing sound or film, shared by buttons, keys and drawings. */

import type { Place } from "@shared/protocol.ts";

export const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
/** Seconds between two messages to the other pane while it plays. */
const TELLING = 0.5;
/** Seconds that two panes may differ before one of them jumps. */
const NEAR = 0.04;

export class Player {
  time = $state(0);
  duration = $state(0);
  playing = $state(false);
  speed = $state(1);
  loop = $state(false);
  volume = $state(1);
  muted = $state(false);
  private element: HTMLMediaElement | undefined;
  private following = false;
  private told = -1;
  private ticking = 0;

  constructor(
    private readonly kind: string,
    private readonly moved: (place: Place) => void,
  ) {}

  /** Attach a media element; returns a function that detaches it. `known`: its length, if the element has none. */
  attach(element: HTMLMediaElement, known: number): () => void {
    this.element = element;
    this.duration = known;
    element.preservesPitch = true;
    const ends = new AbortController();
    const on = (name: string, act: () => void) => element.addEventListener(name, act, { signal: ends.signal });
    const length = () => {
      this.duration = Number.isFinite(element.duration) && element.duration > 0 ? element.duration : known;
    };
    on("loadedmetadata", length);
    on("durationchange", length);
    on("timeupdate", () => this.read());
    on("play", () => ((this.playing = true), this.tick()));
    on("pause", () => ((this.playing = false), this.read(), this.tell()));
    on("ended", () => ((this.playing = false), this.read()));
    on("seeked", () => this.arrived());
    on("volumechange", () => ([this.volume, this.muted] = [element.volume, element.muted]));
    return () => {
      ends.abort();
      cancelAnimationFrame(this.ticking);
      element.pause();
      // Make the browser drop connection and decoder at once.
      element.removeAttribute("src");
      element.load();
      this.element = undefined;
    };
  }

  async toggle(): Promise<void> {
    if (!this.element) return;
    if (!this.element.paused) return this.element.pause();
    if (this.element.ended) this.element.currentTime = 0;
    // Playing is rejected if another file was requested meanwhile; ignore it.
    await this.element.play().catch(() => undefined);
  }

  seek(time: number): void {
    if (!this.element) return;
    this.time = Math.min(Math.max(0, time), this.duration || time);
    this.element.currentTime = this.time;
  }

  pause(): void {
    this.element?.pause();
  }

  set(speed: number): void {
    this.speed = speed;
    if (this.element) this.element.playbackRate = speed;
  }

  faster(steps: number): void {
    const at = SPEEDS.indexOf(this.speed);
    this.set(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at + steps))] ?? 1);
  }

  again(): void {
    this.loop = !this.loop;
    if (this.element) this.element.loop = this.loop;
  }

  loud(volume: number): void {
    if (!this.element) return;
    this.element.muted = volume === 0;
    this.element.volume = volume;
  }

  /** Move to the other pane's position. A playing pane ignores small differences. */
  follow(place: Place): void {
    if (place.time === undefined || !Number.isFinite(place.time) || !this.element) return;
    const apart = Math.abs(place.time - this.element.currentTime);
    if (apart < (this.playing ? TELLING : NEAR)) return;
    this.following = true;
    this.seek(place.time);
  }

  private arrived(): void {
    this.read();
    if (!this.following) this.tell();
    this.following = false;
  }

  private read(): void {
    if (this.element) this.time = this.element.currentTime;
  }

  private tell(): void {
    this.told = this.time;
    this.moved({ kind: this.kind, time: Math.round(this.time * 1000) / 1000 });
  }

  private tick(): void {
    cancelAnimationFrame(this.ticking);
    if (!this.playing) return;
    this.read();
    if (Math.abs(this.time - this.told) >= TELLING) this.tell();
    this.ticking = requestAnimationFrame(() => this.tick());
  }
}

/** Handle the keys of every player; return whether a key was used. */
export function pressed(player: Player, event: KeyboardEvent, step?: (frames: number) => void): boolean {
  const at = event.target instanceof Element ? event.target : null;
  if (event.ctrlKey || event.altKey || event.metaKey || at?.closest("select, input:not([type=range])")) return false;
  const far = event.shiftKey ? 1 : 5;
  if (event.key === " ") {
    if (at?.closest("button, input")) return false;
    void player.toggle();
  } else if (at?.closest("input")) return false;
  else if (event.key === "ArrowLeft") player.seek(player.time - far);
  else if (event.key === "ArrowRight") player.seek(player.time + far);
  else if (event.key === "Home") player.seek(0);
  else if (event.key === "End") player.seek(player.duration);
  else if (event.key === "<" || event.key === ">") player.faster(event.key === "<" ? -1 : 1);
  else if (step && (event.key === "," || event.key === ".")) step(event.key === "," ? -1 : 1);
  else return false;
  event.preventDefault();
  return true;
}
