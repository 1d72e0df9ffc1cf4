const mostCharacters = 240;
const before = 80;

/** The line, or of a long one the part around `index`, cut between characters and marked. */
export function excerpt(line: string, index: number): string {
  if (line.length <= mostCharacters) return line;
  const from = boundary(line, Math.max(0, Math.min(index - before, line.length - mostCharacters + 2)));
  const to = boundary(line, Math.min(line.length, from + mostCharacters - 2));
  return `${from > 0 ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`;
}

/** Never between the halves of a character. */
const boundary = (line: string, at: number) => {
  const unit = line.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
};
