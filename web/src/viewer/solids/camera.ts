/** Camera position relative to the model's size, so that two panes show the same side of different models. */

import { type Box3, type PerspectiveCamera, Sphere, Spherical, Vector3 } from "three";

export type Side = "front" | "side" | "top" | "corner";

const FROM: Record<Side, [number, number, number]> = {
  front: [0, 0, 1],
  side: [1, 0, 0],
  // A straight look down has no upward direction, so tilt it slightly.
  top: [0, 1, 0.0001],
  corner: [0.65, 0.45, 1],
};

export class Eye {
  readonly target = new Vector3();
  private readonly ball = new Sphere(new Vector3(), 1);

  constructor(readonly camera: PerspectiveCamera) {}

  get radius(): number {
    return this.ball.radius;
  }

  about(box: Box3): void {
    box.getBoundingSphere(this.ball);
    if (!(this.ball.radius > 0)) this.ball.radius = 1;
  }

  /** Fit the model, from the current direction or a given side. */
  fit(side?: Side): void {
    const way = side ? new Vector3(...FROM[side]) : this.camera.position.clone().sub(this.target);
    if (way.lengthSq() === 0) way.set(...FROM.corner);
    const half = (this.camera.fov * Math.PI) / 360;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    this.target.copy(this.ball.center);
    this.camera.position.copy(way.setLength((this.ball.radius * 1.08) / Math.sin(narrow)).add(this.target));
    this.look();
  }

  /** Turn around the target by angles in radians. */
  turn(across: number, up: number): void {
    const at = new Spherical().setFromVector3(this.camera.position.clone().sub(this.target));
    at.theta += across;
    at.phi += up;
    this.camera.position.setFromSpherical(at.makeSafe()).add(this.target);
    this.look();
  }

  /** Shift the camera by fractions of the distance. */
  shift(across: number, up: number): void {
    const far = this.camera.position.distanceTo(this.target);
    const way = new Vector3(across * far, up * far, 0).applyQuaternion(this.camera.quaternion);
    this.camera.position.add(way);
    this.target.add(way);
    this.look();
  }

  nearer(factor: number): void {
    this.camera.position.sub(this.target).multiplyScalar(factor).add(this.target);
    this.look();
  }

  /** Position and target in radii from the middle of the model: six numbers. */
  get place(): number[] {
    const near = (v: Vector3) => v.clone().sub(this.ball.center).divideScalar(this.ball.radius).toArray();
    return [...near(this.camera.position), ...near(this.target)].map((value) => Math.round(value * 1e4) / 1e4);
  }

  set place(numbers: number[]) {
    if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
    const far = (at: number) => new Vector3().fromArray(numbers, at).multiplyScalar(this.ball.radius).add(this.ball.center);
    this.camera.position.copy(far(0));
    this.target.copy(far(3));
    this.look();
  }

  look(): void {
    const far = this.camera.position.distanceTo(this.ball.center);
    const { radius } = this.ball;
    this.camera.near = Math.max(far - radius * 3, radius / 500, far / 2_000);
    this.camera.far = far + radius * 6;
    this.camera.lookAt(this.target);
    this.camera.updateProjectionMatrix();
  }
}
