/**
 * Shows how a long text begins, and where the rest is. Cut between code points, so that no character is damaged.
 * @param most characters that are shown
 * @param rest how the whole text is to be had, for example "get_project has all of it"
 */
export function clipped(text: string, most: number, rest: string): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most).join("")} … [cut; ${rest}]`;
}
