import fc from "fast-check";
import picomatch from "picomatch";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { decodePostings, encodePostings, fold } from "../../functions/_repositories/trigrams.ts";
import { pathFilter } from "../../functions/search_code/glob.ts";
import { holds, type Need, neededText } from "../../functions/search_code/needed_text.ts";

test("what a case-insensitive expression takes for the same letter is folded to the same text", () => {
  const cased: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (character.toLowerCase() !== character || character.toUpperCase() !== character) cased.push(character);
  }
  const all = cased.join("");
  for (const character of cased) {
    const expression = RE2JS.compile(RE2JS.quote(character), RE2JS.CASE_INSENSITIVE).matcher(all);
    while (expression.find()) expect(fold(expression.group() ?? "")).toBe(fold(character));
  }
  expect(cased.length).toBeGreaterThan(2_500);
}, 120_000);

test("a part of a text is folded to a part of the folded text", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "Σ", "ς", "σ", "ß", "ẞ", "İ", "ı", "K", "ſ", " ", "订", "👍") });
  fc.assert(fc.property(text, text, text, (before, part, after) => fold(before + part + after).includes(fold(part))));
});

test("numbers of segments come back from their bytes", () => {
  const numbers = fc.uniqueArray(fc.nat(2 ** 30), { maxLength: 200 }).map((list) => list.sort((a, b) => a - b));
  fc.assert(
    fc.property(numbers, (list) => {
      expect(decodePostings(encodePostings(list))).toEqual(list);
    }),
  );
});

describe("what an expression needs", () => {
  const text = (value: string): Need => ({ text: value });
  test.each<[string, Need]>([
    ["class", { all: [text("class")] }],
    ["class \\w+Bucket", { all: [text("class "), { all: [] }, text("Bucket")] }],
    ["ab?c", { all: [text("a"), text("c")] }],
    ["ab+c", { all: [text("ab"), text("c")] }],
    ["a{0,2}b{2}c{,3}", { all: [text("bb".slice(1)), text("c{,3}")] }],
    ["foo|bar", { any: [{ all: [text("foo")] }, { all: [text("bar")] }] }],
    ["x(?:foo|bar)?y", { all: [text("x"), text("y")] }],
    ["(?i)foo(?P<n>bar)", { all: [{ all: [] }, text("foo"), { all: [text("bar")] }] }],
    ["[]a]b[^]c]", { all: [{ all: [] }, text("b"), { all: [] }] }],
    ["[[:alpha:]x]\\p{Greek}\\pLy\\.z", { all: [{ all: [] }, { all: [] }, { all: [] }, text("y.z")] }],
    ["\\Qa.b\\E", { all: [] }],
    ["\\x41bc", { all: [] }],
  ])("%s", (pattern, need) => {
    expect(RE2JS.compile(pattern)).toBeDefined();
    expect(neededText(pattern)).toEqual(need);
  });

  test("is in everything that it matches", () => {
    const letter = fc.constantFrom("a", "b", "c", "\\.", "[ab]", "[^]a]", ".", "\\w", "^", "\\b", "\\pL");
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        letter,
        fc.tuple(tie("pattern"), tie("pattern")).map((both) => both.join("")),
        fc.tuple(tie("pattern"), tie("pattern")).map((both) => `(${both.join("|")})`),
        fc
          .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{0,1}", "{1,}?", "*?"))
          .map(([inside, sign]) => `(?:${inside})${sign}`),
      ),
    }));
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c", ".", " "), maxLength: 12 });
    fc.assert(
      fc.property(pattern, line, (source, text) => {
        if (RE2JS.compile(source).test(text)) expect(holds(neededText(source), text)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

test("globs choose the paths that picomatch chooses", () => {
  const step = fc
    .array(fc.constantFrom("a", "b", ".", "-", "ab", "[", "{", "中"), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(""));
  const path = fc
    .array(step, { minLength: 1, maxLength: 4 })
    .map((steps) => steps.join("/"))
    .filter((text) => !/(^|\/)\.{1,2}(\/|$)/.test(text));
  const piece = fc.constantFrom("a", "b", ".", "-", "*", "?", "[ab]", "[^a]", "{a,b}", "{ab,*b}", "中");
  const globStep = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("").replaceAll(/\*+/g, "*")),
    fc.constant("**"),
  );
  const glob = fc.array(globStep, { minLength: 1, maxLength: 4 }).map((steps) => steps.join("/"));
  // A step of dots means a folder to picomatch, as does a glob that ends with one: those are no names here.
  // And `a/**` is to picomatch also the folder itself.
  const isPlain = (text: string) => !/(^|\/)[.]+(\/|$)|\/\*\*$/.test(text);
  fc.assert(
    fc.property(glob.filter(isPlain), path, (pattern, candidate) => {
      const theirs = picomatch(pattern, { dot: true, basename: !pattern.includes("/") });
      expect({ pattern, candidate, chosen: pathFilter([pattern])(candidate) }).toEqual({
        pattern,
        candidate,
        chosen: theirs(candidate),
      });
    }),
    { numRuns: 3_000 },
  );
});
