import { fold } from "../_repositories/trigrams.ts";

/** Text that whatever matches must hold; `all` of nothing says nothing. */
export type Need = { text: string } | { all: readonly Need[] } | { any: readonly Need[] };

const nothing: Need = { all: [] };

/**
 * What every match of a regular expression must hold, read off its fixed parts. It says too little rather than too
 * much: whatever is not surely fixed text ends a piece of it, and a construct that is not known here says nothing.
 * @param pattern one that RE2 accepts
 */
export function neededText(pattern: string): Need {
  // Quoting, single bytes, numbered characters: their extent would have to be read exactly as RE2 reads it.
  if (/\\[QECx0-7]/.test(pattern)) return nothing;
  return new PatternReader(pattern).alternatives();
}

/** Whether a text holds what is needed: what doesn't can't match. */
export function holds(need: Need, text: string): boolean {
  if ("text" in need) return text.includes(need.text);
  return "all" in need ? need.all.every((each) => holds(each, text)) : need.any.some((each) => holds(each, text));
}

/** The same need, of folded text. */
export function folded(need: Need): Need {
  if ("text" in need) return { text: fold(need.text) };
  return "all" in need ? { all: need.all.map(folded) } : { any: need.any.map(folded) };
}

class PatternReader {
  readonly #characters: string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = [...pattern];
  }

  /** `a|b`: one or the other. */
  alternatives(): Need {
    const branches = [this.#sequence()];
    while (this.#skip("|")) branches.push(this.#sequence());
    return branches.length === 1 && branches[0] !== undefined ? branches[0] : { any: branches };
  }

  /** Up to the end of this alternative: all of its pieces. */
  #sequence(): Need {
    const pieces: Need[] = [];
    let run = "";
    const end = () => {
      if (run !== "") pieces.push({ text: run });
      run = "";
    };
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      const part = this.#part();
      const { least, isPlain } = this.#repetition();
      if (typeof part === "string") {
        if (least > 0) run += part;
        if (!isPlain) end();
      } else {
        end();
        if (least > 0) pieces.push(part);
      }
    }
    end();
    return { all: pieces };
  }

  /** One character, as text; anything else as what it needs. */
  #part(): string | Need {
    const character = this.#take();
    if (character === "\\") return this.#escaped();
    if (character === "(") return this.#group();
    if (character === "[") return this.#characterClass();
    return ".^$".includes(character) ? nothing : character;
  }

  #escaped(): string | Need {
    const character = this.#take();
    if (!/[A-Za-z0-9]/.test(character)) return character;
    // \pL or \p{Greek}
    if (/[pP]/.test(character) && this.#take() === "{") while (this.#take() !== "}");
    return nothing;
  }

  #group(): Need {
    // (?:…), (?i), (?i:…), (?<name>…), (?P<name>…)
    if (this.#skip("?")) {
      let opening = this.#take();
      while (!":)>".includes(opening)) opening = this.#take();
      if (opening === ")") return nothing;
    }
    const inside = this.alternatives();
    this.#skip(")");
    return inside;
  }

  #characterClass(): Need {
    this.#skip("^");
    this.#skip("]"); // In the first place it is one of the characters.
    for (let character = this.#take(); character !== "]"; character = this.#take()) {
      if (character === "\\") this.#take();
      // [[:alpha:]]
      else if (character === "[" && this.#peek() === ":") while (this.#take() !== "]");
    }
    return nothing;
  }

  /** How often at least, and whether that is exactly once with nothing written. */
  #repetition(): { least: number; isPlain: boolean } {
    let [least, isPlain] = [1, true];
    for (;;) {
      const rest = this.#characters.slice(this.#at, this.#at + 16).join("");
      const [all, sign, count] = /^(?:([*+?])|\{(\d+)(?:,\d*)?\})/.exec(rest) ?? [];
      if (all === undefined) return { least, isPlain };
      this.#at += all.length;
      if (sign === "*" || sign === "?" ? isPlain || sign === "*" : Number(count ?? 1) === 0) least = 0;
      isPlain = false;
    }
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  /** @throws {Error} at the end, which a pattern that RE2 accepts reaches nowhere in between */
  #take(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw new Error("The pattern ends too early.");
    this.#at += 1;
    return character;
  }

  #skip(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }
}
