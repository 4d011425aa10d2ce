import type { Kinds } from "../context.svelte.ts";

export const kinds: Kinds = {
  text: () => import("./Text.svelte"),
  markdown: () => import("./Markup.svelte"),
  tex: () => import("./Markup.svelte"),
  pdf: () => import("./Pdf.svelte"),
  image: () => import("./Image.svelte"),
  pages: () => import("./PagedPicture.svelte"),
  table: () => import("./Table.svelte"),
  workbook: () => import("./Workbook.svelte"),
  database: () => import("./Database.svelte"),
  notebook: () => import("./Notebook.svelte"),
  archive: () => import("./Archive.svelte"),
  cards: () => import("./Cards.svelte"),
  site: () => import("./Site.svelte"),
  card: () => import("./Card.svelte"),
};
