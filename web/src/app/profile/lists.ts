/** Lists of words as people type them: by commas or lines. */
export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n;]/)
      .map((word) => word.trim())
      .filter(Boolean),
  ),
];

/** A number as it was typed; null for nothing, undefined for what is none. */
export function numberOf(text: string): number | null | undefined {
  const typed = text.trim();
  if (!typed) return null;
  return /^\d+([.,]\d+)?$/.test(typed) ? Number(typed.replace(",", ".")) : undefined;
}
