/** Draw on a canvas of a size in CSS pixels, sharp on every screen. */
export function paint(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  draw: (pen: CanvasRenderingContext2D) => void,
): void {
  const pen = canvas.getContext("2d");
  if (!pen || width < 1 || height < 1) return;
  const ratio = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw(pen);
}
