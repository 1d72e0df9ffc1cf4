/** Text that is HTML already. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | Part[];

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function rendered(part: Part): string {
  if (Array.isArray(part)) return part.map(rendered).join("");
  if (part instanceof Html) return part.text;
  return String(part).replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Makes HTML of a template: what is filled in is escaped, unless it was made by this function. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(rendered)));
