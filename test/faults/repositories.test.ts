import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { mostLines } from "../../functions/read_file_range/contract.ts";
import { makeRepository } from "../repositories/fixture.ts";
import { startTestSystem } from "../system.ts";

/*
 * Both tools against what a few obvious lines of code answer: 2,000 random ranges and 200 random searches over random
 * files, of one line to many segments, with every line end, long lines, and scripts of one to four bytes.
 */

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;

const seed = Number(process.env.DIFFERENTIAL_SEED ?? 20_261_130);
const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number, salt: number) =>
  fc.sample(arbitrary, { numRuns: count, seed: seed + salt });

const word = fc.constantFrom(
  ...["order", "Order", "ORDER", "state", "订单", "状态", "é", "👍", "a", "b", "ab", "  ", "(", ".", "\t", "x1", "\r"],
);
const line = fc.array(word, { maxLength: 8 }).map((words) => words.join(""));
const longLine = fc.integer({ min: 1_000, max: 90_000 }).map((length) => "长line".repeat(length / 8));
const small = fc.array(fc.oneof({ weight: 40, arbitrary: line }, { weight: 1, arbitrary: longLine }), {
  maxLength: 60,
});
const large = fc.array(line, { minLength: 2_000, maxLength: 4_000, size: "max" });
const ends = { lf: ["\n"], crlf: ["\r\n"], mixed: ["\n", "\n", "\r\n"] } as const;
const file = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: small }, { weight: 1, arbitrary: large }),
    fc.constantFrom(...Object.values(ends)),
    fc.boolean(),
  )
  .map(([lines, possible, isOpen]) => {
    const text = lines.map((each, index) => `${each}${possible[index % possible.length]}`).join("");
    return isOpen ? text.replace(/\r?\n$/, "") : text;
  });

const folders = ["src", "src/main", "docs", "目录"];
const names = Array.from({ length: 40 }, (_, index) => `${folders[index % 4]}/f${index}.${index % 3 ? "ts" : "md"}`);
const texts = new Map(sample(file, names.length, 0).map((text, index) => [String(names[index]), text]));
const repositoryId = await makeRepository(Object.fromEntries(texts), afterAll);

/** The lines of a text, each as it is shown; what follows the last end is one unless it is empty. */
const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g)?.map((each) => each.replace(/\r\n$/, "\n")) ?? [];

async function inChunks<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += 16) await Promise.all(all.slice(from, from + 16).map(run));
}

test("2,000 random ranges are read as slice() would", async () => {
  const ranges = fc.tuple(
    fc.constantFrom(...names),
    fc.double({ min: 0, max: 1.1, noNaN: true }),
    fc.integer({ min: 0, max: 300 }),
  );
  await inChunks(sample(ranges, 2_000, 1), async ([path, at, length]) => {
    const lines = linesOf(texts.get(path) ?? "");
    const startLine = Math.floor(at * lines.length) + 1;
    const endLine = startLine + Math.min(length, mostLines - 1);
    const { status, body } = await tool("read_file_range", { repositoryId, path, startLine, endLine });
    const about = `${path} ${startLine} to ${endLine} of ${lines.length}, seed ${seed}`;
    if (startLine > Math.max(lines.length, 1)) {
      expect(body.error, about).toMatchObject({ type: "INVALID_RANGE", details: { totalLines: lines.length } });
      return;
    }
    expect(status, about).toBe(200);
    const wanted = lines.slice(startLine - 1, endLine).join("");
    const { nextStartLine = 0, nextStartByte = 0 } = body;
    if (!body.truncated) {
      expect(body, about).toMatchObject({ content: wanted, endLine: Math.min(endLine, lines.length) });
    } else if (nextStartByte === 0) {
      expect(body.content, about).toBe(lines.slice(startLine - 1, nextStartLine - 1).join(""));
    } else {
      expect(wanted.startsWith(body.content), about).toBe(true);
      const whole = lines.slice(startLine - 1, nextStartLine - 1).join("");
      expect(Buffer.byteLength(body.content.slice(whole.length)), about).toBe(nextStartByte);
    }
  });
}, 120_000);

interface Search {
  query: string;
  regex: boolean;
  caseSensitive: boolean;
  paths: string[];
}

const plain = fc
  .array(
    word.filter((each) => !/[\r(.]/.test(each)),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => parts.join(""));
const atom = fc.oneof(
  plain.map((text) => text.replaceAll(/[.()]/g, "\\$&")),
  fc.constantFrom(
    "[a-z]",
    "\\d",
    ".",
    "[^ab]",
    "\\s",
    "(?:order|订单)",
    "(?:ab|x1)?",
    "(?:状态|state){1,2}",
    "^",
    "$",
    "\\.",
    "\\(",
  ),
);
const quantified = fc
  .tuple(atom, fc.constantFrom("", "", "", "+", "?", "*"))
  .map(([part, sign]) => (/^[\^$]$/.test(part) ? part : sign === "" ? part : `(?:${part})${sign}`));
const expression = fc
  .array(fc.array(quantified, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 })
  .map((branches) => branches.map((parts) => parts.join("")).join("|"));
const search: fc.Arbitrary<Search> = fc
  .oneof(
    plain,
    expression.map((text) => `/${text}`),
  )
  .chain((query) =>
    fc.record({
      query: fc.constant(query.replace(/^\//, "")),
      regex: fc.constant(query.startsWith("/")),
      caseSensitive: fc.boolean(),
      paths: fc.constantFrom([], [], ["*.md"], ["src/**"], ["!src/main/*", "!*.md"]),
    }),
  );

const chooses: Record<string, (path: string) => boolean> = {
  "": () => true,
  "*.md": (path) => path.endsWith(".md"),
  "src/**": (path) => path.startsWith("src/"),
  "!src/main/*,!*.md": (path) => !path.startsWith("src/main/") && !path.endsWith(".md"),
};

function reference({ query, regex, caseSensitive, paths }: Search): string[] {
  const source = regex ? query : query.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  // `.` of RE2 matches \r, which JavaScript takes for a line's end.
  const matcher = new RegExp(source, caseSensitive ? "us" : "uis");
  return [...texts.keys()]
    .filter((path) => chooses[paths.join(",")]?.(path))
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((path) =>
      linesOf(texts.get(path) ?? "").flatMap((each, index) =>
        matcher.test(each.replace(/\n$/, "")) ? [`${path}:${index + 1}`] : [],
      ),
    );
}

test("200 random searches find what trying every line finds", async () => {
  let matched = 0;
  await inChunks(sample(search, 200, 2), async (asked) => {
    const wanted = reference(asked);
    const shown: string[] = [];
    let cursor = "";
    // As many pages as show whether an order or a line is lost.
    for (let page = 0; page < 4; page++) {
      const { status, body } = await tool("search_code", { repositoryId, ...asked, cursor, limit: 100 });
      expect(status, JSON.stringify([asked, body, seed])).toBe(200);
      shown.push(...body.matches.map(({ path, line }) => `${path}:${line}`));
      cursor = body.nextCursor;
      if (cursor === "") break;
    }
    expect(shown, JSON.stringify([asked, seed])).toEqual(cursor === "" ? wanted : wanted.slice(0, shown.length));
    matched += Number(wanted.length > 0);
  });
  // Of searches that all find nothing nothing is learned.
  expect(matched).toBeGreaterThan(60);
}, 120_000);
