/** Lists of words typed with commas or lines. */
export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n;]/)
      .map((word) => word.trim())
      .filter(Boolean),
  ),
];

/** Parse a number; null for an empty text, undefined for an invalid one. */
export function numberOf(text: string): number | null | undefined {
  const typed = text.trim();
  if (!typed) return null;
  return /^\d+([.,]\d+)?$/.test(typed) ? Number(typed.replace(",", ".")) : undefined;
}
