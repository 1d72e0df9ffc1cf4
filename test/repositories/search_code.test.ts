import { afterAll, describe, expect, test } from "vitest";
import { startTestSystem } from "../system.ts";
import { type Files, makeRepository, makeTree, sync, writeFiles } from "./fixture.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;

const files: Files = {
  "README.md": "# Orders\n\nSee OrderStateMachine.\n",
  "src/main/OrderStateMachine.java":
    "package order;\r\n\r\npublic class OrderStateMachine {\r\n  // 订单状态机\r\n}\r\n",
  "src/main/Order.java": "class Order { OrderStateMachine machine; }",
  "src/test/OrderTest.java": "class OrderTest { /* orderstatemachine */ }\n",
  "docs/emoji.md": "👍👍 done\nfoo.bar+baz(1)\n",
  "docs/letters.md": "STRASSE Straße\nΣΟΦΟΣ σοφος\nKelvin \u212a\n",
  "min.js": `var a="${"x".repeat(5_000)}needle中文${"y".repeat(5_000)}";\n`,
  ".env.example": "SECRET=needle\n",
  "logo.png": new Uint8Array([0, 1, 2]),
  "empty.txt": "",
};
const repositoryId = await makeRepository(files, afterAll);

const search = (query: string, more: object = {}, id = repositoryId) =>
  tool("search_code", { repositoryId: id, query, ...more });

/** The matches as `path:line`. */
async function found(query: string, more: object = {}, id = repositoryId): Promise<string[]> {
  const { status, body } = await search(query, more, id);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.matches.map(({ path, line }) => `${path}:${line}`);
}

test("text is found where it stands, sorted by path and line, with what read_file_range needs", async () => {
  const { body } = await search("OrderStateMachine");
  expect(body).toMatchObject({ repositoryId, stoppedEarly: false, nextCursor: "" });
  expect(body.matches).toEqual([
    {
      path: "README.md",
      line: 3,
      startByte: 4,
      excerpt: "See OrderStateMachine.",
      sourceRef: `git://repo/${repositoryId}/file/README.md#L3-L3`,
    },
    expect.objectContaining({ path: "src/main/Order.java", line: 1 }),
    expect.objectContaining({
      path: "src/main/OrderStateMachine.java",
      line: 3,
      excerpt: "public class OrderStateMachine {",
    }),
  ]);
  const [, , { path, line } = { path: "", line: 0 }] = body.matches;
  const read = await tool("read_file_range", { repositoryId, path, startLine: line, endLine: line });
  expect(read.body.content).toBe("public class OrderStateMachine {\n");
});

test("upper and lower case differ unless caseSensitive is false, in any script that has them", async () => {
  expect(await found("orderstatemachine")).toEqual(["src/test/OrderTest.java:1"]);
  expect(await found("orderstatemachine", { caseSensitive: false })).toHaveLength(4);
  expect(await found("strasse", { caseSensitive: false })).toEqual(["docs/letters.md:1"]);
  expect(await found("σοφοσ", { caseSensitive: false })).toEqual(["docs/letters.md:2"]);
  expect(await found("kelvin k", { caseSensitive: false })).toEqual(["docs/letters.md:3"]);
});

test("one Chinese character is enough for the index, which counts bytes", async () => {
  const { body } = await search("订");
  expect(body.matches).toMatchObject([{ path: "src/main/OrderStateMachine.java", line: 4, startByte: 5 }]);
  expect(body.note).toBeUndefined();
});

test("what is special in expressions is plain in text", async () => {
  expect(await found("foo.bar+baz(1)")).toEqual(["docs/emoji.md:2"]);
  expect(await found("foo.bar+baz(1)", { caseSensitive: false })).toEqual(["docs/emoji.md:2"]);
  expect(await found("foo.b.r")).toEqual([]);
});

describe("a regular expression", () => {
  test.each([
    ["Order(State|Sta?te)Machine", ["README.md:3", "src/main/Order.java:1", "src/main/OrderStateMachine.java:3"]],
    ["^class \\w+", ["src/main/Order.java:1", "src/test/OrderTest.java:1"]],
    ["\\{$", ["src/main/OrderStateMachine.java:3"]],
    ["^$", ["README.md:2", "src/main/OrderStateMachine.java:2"]],
    ["^👍{2} d", ["docs/emoji.md:1"]],
    ["(?i)ORDERTEST", ["src/test/OrderTest.java:1"]],
    ["zq|foo|订单", ["docs/emoji.md:2", "src/main/OrderStateMachine.java:4"]],
    ["machine;|[x]nothing", ["src/main/Order.java:1"]],
  ])("%s is tried on each line", async (query, lines) => {
    expect(await found(query, { regex: true })).toEqual(lines);
  });

  test.each(["(", "a(?=b)", "(a)\\1", "[z-a]", "a**", "x{1001}"])(
    "%s is refused, and the reason is given",
    async (query) => {
      const { status, body } = await search(query, { regex: true });
      expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_PATTERN" });
      expect(body.error?.message).toContain("query: ");
    },
  );

  test("that would never end in a backtracking engine ends at once", async () => {
    const id = await makeRepository({ "a.txt": `${"a".repeat(50_000)}\n` });
    const began = performance.now();
    expect(await found("(a+)+$|(a|aa)+b", { regex: true }, id)).toEqual(["a.txt:1"]);
    expect(await found("(a|a?)+b", { regex: true }, id)).toEqual([]);
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test("without fixed text says that the index can't help", async () => {
    const { body } = await search("\\d", { regex: true });
    expect(body.matches.map(({ path }) => path)).toEqual(["docs/emoji.md"]);
    expect(body.note).toContain("fixed text");
  });
});

describe("paths", () => {
  test.each([
    [["*.md"], ["README.md:3"]],
    [["/*.md"], ["README.md:3"]],
    [["src/**/*.java"], ["src/main/Order.java:1", "src/main/OrderStateMachine.java:3"]],
    [
      ["src/main/Order.java", "README.md"],
      ["README.md:3", "src/main/Order.java:1"],
    ],
    [["!src/**"], ["README.md:3"]],
    [
      ["*.{md,java}", "!**/Order.*"],
      ["README.md:3", "src/main/OrderStateMachine.java:3"],
    ],
    [["src/main/Order?java"], ["src/main/Order.java:1"]],
    [["**/main/[O]rder.java"], ["src/main/Order.java:1"]],
    [["docs/*"], []],
    [["README.md/**"], []],
    [["src/main/**"], ["src/main/Order.java:1", "src/main/OrderStateMachine.java:3"]],
  ])("%j choose files", async (paths, lines) => {
    expect(await found("OrderStateMachine", { paths })).toEqual(lines);
  });

  test("also files whose name begins with a dot", async () => {
    expect(await found("SECRET", { paths: ["*.example"] })).toEqual([".env.example:1"]);
  });

  test("that would never end in a backtracking engine end at once", async () => {
    const id = await makeRepository({ [`${"a".repeat(200)}.txt`]: "needle\n" });
    const began = performance.now();
    expect(await found("needle", { paths: [`${"*a".repeat(90)}b`, "{a,aa}*".repeat(20)] }, id)).toEqual([
      `${"a".repeat(200)}.txt:1`,
    ]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("that can't be read are refused", async () => {
    const { status, body } = await search("x", { paths: ["src/[z-a].ts"] });
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_PATTERN" });
    expect(body.error?.message).toContain("src/[z-a].ts");
  });
});

test("of a long line the part around the match is shown, and startByte reads on from there", async () => {
  const { body } = await search("needle中文");
  const [match] = body.matches;
  expect(match?.excerpt).toMatch(/^…x+needle中文y+…$/);
  expect(match?.excerpt.length).toBeLessThanOrEqual(240);
  const { path = "", line = 0, startByte = 0 } = match ?? {};
  const read = await tool("read_file_range", { repositoryId, path, startLine: line, endLine: line, startByte });
  expect(read.body.content).toMatch(/^needle中文y/);
});

test("an excerpt never holds half of a character", async () => {
  const lines = Array.from(
    { length: 8 },
    (_, shift) => `${"x".repeat(shift)}${"👍".repeat(300)}needle${"👍".repeat(300)}`,
  );
  const id = await makeRepository({ "emoji.txt": lines.join("\n") });
  const { body } = await search("needle", {}, id);
  expect(body.matches).toHaveLength(8);
  for (const { excerpt } of body.matches) expect(excerpt.isWellFormed()).toBe(true);
});

test("text over a line's end can't match, and says so", async () => {
  const { status, body } = await search("a\nb");
  expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_PATTERN" });
});

describe("pages", () => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, file) => [
      `f${String(file).padStart(2, "0")}.txt`,
      "hit\nmiss\nhit hit\n".repeat(5),
    ]),
  );

  async function pages(id: string, limit: number, more: object = {}) {
    const lines: string[] = [];
    let [cursor, count] = ["", 0];
    do {
      const { status, body } = await search("hit", { limit, cursor, ...more }, id);
      expect(status).toBe(200);
      expect(body.matches.length).toBeLessThanOrEqual(limit);
      lines.push(...body.matches.map(({ path, line }) => `${path}:${line}`));
      cursor = body.nextCursor;
      count += 1;
    } while (cursor !== "");
    return { lines, count };
  }

  test("join to all matching lines, each once, and end with the last", async () => {
    const id = await makeRepository(many);
    const whole = Object.keys(many).flatMap((path) =>
      Array.from({ length: 15 }, (_, at) => at + 1)
        .filter((line) => line % 3 !== 2)
        .map((line) => `${path}:${line}`),
    );
    expect(await pages(id, 7)).toEqual({ lines: whole, count: Math.ceil(400 / 7) });
    expect(await pages(id, 100)).toEqual({ lines: whole, count: 4 });
  });

  test("go on in the snapshot that they began in, until that is gone", async () => {
    const dir = makeTree(many);
    const id = "paged";
    await sync(dir, id);
    const { nextCursor } = (await search("hit", { limit: 10 }, id)).body;
    writeFiles(dir, Object.fromEntries(Object.keys(many).map((path) => [path, "gone\n"])));
    await sync(dir, id);
    expect(await found("hit", {}, id)).toEqual([]);
    expect(await found("hit", { cursor: nextCursor, limit: 1 }, id)).toEqual(["f01.txt:1"]);
    await sync(dir, id);
    await sync(dir, id);
    const { status, body } = await search("hit", { cursor: nextCursor }, id);
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_CURSOR" });
  });

  test("a cursor of another search, or none of ours, is refused", async () => {
    const id = await makeRepository(many);
    const { nextCursor } = (await search("hit", { limit: 1 }, id)).body;
    for (const [query, cursor] of [
      ["miss", nextCursor],
      ["hit", "x"],
      ["hit", nextCursor.slice(2)],
      ["hit", "WzFd"],
    ] as const) {
      const { status, body } = await search(query, { cursor }, id);
      expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_CURSOR" });
    }
  });
});

test("a search that reads too much stops early, says so, and goes on to its end", async () => {
  const line = `${"lorem ipsum dolor sit amet ".repeat(40)}\n`;
  const big = Object.fromEntries(Array.from({ length: 5 }, (_, file) => [`big${file}.txt`, line.repeat(7_000)]));
  const id = await makeRepository({ ...big, "last.txt": "z9\n" });
  const first = (await search("z\\d", { regex: true }, id)).body;
  expect(first).toMatchObject({ matches: [], stoppedEarly: true });
  const lines: string[] = [];
  let rounds = 0;
  for (let cursor = first.nextCursor; cursor !== ""; rounds++) {
    const { body } = await search("z\\d", { regex: true, cursor }, id);
    lines.push(...body.matches.map(({ path }) => path));
    cursor = body.nextCursor;
  }
  expect({ lines, isInRounds: rounds >= 1 && rounds < 10 }).toEqual({ lines: ["last.txt"], isInRounds: true });
  // With fixed text the index knows where it is.
  expect((await search("z9", { paths: ["last.txt"] }, id)).body).toMatchObject({ stoppedEarly: false });
}, 60_000);
