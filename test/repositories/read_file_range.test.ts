import { afterAll, describe, expect, test } from "vitest";
import { mostContentBytes } from "../../functions/read_file_range/contract.ts";
import { startTestSystem } from "../system.ts";
import { type Files, makeRepository } from "./fixture.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;

/** More than any sample or chunk is likely to take; shifted, so that every cut falls into a character at some shift. */
const chinese = (shift: number) => `${"x".repeat(shift)}${"// 订单状态机的说明，一行接着一行。\n".repeat(4_000)}`;
const minified = `const 数据=[${'"值",'.repeat(600_000)}];`;
const files: Files = {
  "three.txt": "a\nb\nc\n",
  "three-open.txt": "a\nb\nc",
  "empty.txt": "",
  "feed.txt": "\n",
  "crlf.txt": "a\r\nb\r\n",
  "mixed.txt": "a\r\nb\nc\rd\r\n\r",
  "chinese-0.ts": chinese(0),
  "chinese-1.ts": chinese(1),
  "chinese-2.ts": chinese(2),
  "minified.js": minified,
  "wide.txt": `${"w".repeat(2_047)}\n`.repeat(400),
  "quotes.txt": '"\n'.repeat(1024 * 1024),
  "control.txt": `${"\u0001".repeat(1_000)}\n`.repeat(200),
  "bom.txt": "\ufeffa\nb\n",
  "image.png": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]),
  "latin1.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a]),
  "utf16.txt": Buffer.from("a\nb\n", "utf16le"),
  "huge.txt": "0123456789abcde\n".repeat(1024 * 1024 + 1),
  "目录/说明 #1.md": "一\n二\n",
  constructor: "not inherited\n",
};
const repositoryId = await makeRepository(files, afterAll);

const read = (path: string, startLine: unknown, endLine: unknown, more: object = {}) =>
  tool("read_file_range", { repositoryId, path, startLine, endLine, ...more });

/** A refusal without what the answer says of the request itself. */
const refusal = async (answer: ReturnType<typeof read>) => {
  const { status, body } = await answer;
  return { status, type: body.error?.type, message: body.error?.message };
};

describe("a range of a three-line file (I1)", () => {
  test.each([
    ["three.txt", 1, 3, "a\nb\nc\n", 3],
    ["three.txt", 2, 2, "b\n", 2],
    ["three.txt", 3, 3, "c\n", 3],
    ["three.txt", 2, 99, "b\nc\n", 3],
    ["three-open.txt", 3, 3, "c", 3],
    ["three-open.txt", 1, 1_000_000_000, "a\nb\nc", 3],
  ])("%s %i to %i is %j, and its true end is told", async (path, startLine, endLine, content, end) => {
    expect(await read(path, startLine, endLine)).toMatchObject({
      status: 200,
      body: { repositoryId, path, startLine, endLine: end, content, truncated: false, totalLines: 3 },
    });
  });

  test.each([
    [0, 3],
    [-1, 2],
    [1, 0],
    [1, -1],
  ])("lines %i to %i are refused by name: lines count from 1", async (startLine, endLine) => {
    const { status, body } = await read("three.txt", startLine, endLine);
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_INPUT" });
    expect(body.error?.message).toMatch(/(start|end)Line/);
  });

  test.each([
    [3, 1],
    [4, 9],
    [4, 4],
    [2_000, 2_100],
  ])("lines %i to %i are refused with the total", async (startLine, endLine) => {
    const { status, body } = await read("three.txt", startLine, endLine);
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_RANGE" });
    expect(body.error).toMatchObject({ message: expect.stringContaining("3 lines"), details: { totalLines: 3 } });
  });

  test.each([[{ startLine: 1 }], [{ endLine: 3 }], [{}]])("%j alone is no range", async (range) => {
    const { status, body } = await tool("read_file_range", { repositoryId, path: "three.txt", ...range });
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_INPUT" });
  });
});

test("a final line end makes no further line, and content tells whether there is one (I2)", async () => {
  for (const [path, last] of [
    ["three.txt", "c\n"],
    ["three-open.txt", "c"],
  ] as const) {
    expect((await read(path, 3, 3)).body).toMatchObject({ content: last, totalLines: 3 });
    expect(await refusal(read(path, 4, 4))).toMatchObject({ status: 400, type: "INVALID_RANGE" });
  }
});

test("line 1 of an empty file is empty, and it has no other (I3)", async () => {
  expect(await read("empty.txt", 1, 1)).toMatchObject({
    status: 200,
    body: { content: "", endLine: 0, totalLines: 0, truncated: false, lineEnding: "none" },
  });
  expect((await read("empty.txt", 1, 50)).body).toMatchObject({ content: "", totalLines: 0 });
  expect(await refusal(read("empty.txt", 2, 2))).toMatchObject({ status: 400, type: "INVALID_RANGE" });
  expect((await read("feed.txt", 1, 1)).body).toMatchObject({ content: "\n", endLine: 1, totalLines: 1 });
  expect(await refusal(read("feed.txt", 2, 2))).toMatchObject({ status: 400 });
});

test("\\r\\n ends a line and is shown as \\n, a lone \\r is part of its line, and the answer says which ends there are (I4)", async () => {
  expect((await read("crlf.txt", 1, 9)).body).toMatchObject({ content: "a\nb\n", totalLines: 2, lineEnding: "crlf" });
  expect((await read("crlf.txt", 2, 2)).body.content).toBe("b\n");
  expect((await read("mixed.txt", 1, 9)).body).toMatchObject({
    content: "a\nb\nc\rd\n\r",
    totalLines: 4,
    lineEnding: "mixed",
  });
  expect((await read("three.txt", 1, 1)).body.lineEnding).toBe("lf");
});

/** Reads on as the answers say, from a line to the end; answers the parts. */
async function readOn(path: string, startLine: number, endLine: number): Promise<string[]> {
  const parts: string[] = [];
  for (let [line, startByte] = [startLine, 0]; ; ) {
    const { status, body } = await read(path, line, endLine, { startByte });
    expect(status).toBe(200);
    parts.push(body.content);
    expect(Buffer.byteLength(body.content)).toBeLessThanOrEqual(mostContentBytes);
    expect(body.content).not.toContain("\ufffd");
    if (!body.truncated) return parts;
    expect(body.content).not.toBe("");
    [line, startByte] = [body.nextStartLine ?? 0, body.nextStartByte ?? 0];
  }
}

test.each([0, 1, 2])(
  "a Chinese file shifted by %i bytes is text, and its parts join without a seam (I5)",
  async (shift) => {
    const parts = [
      ...(await readOn(`chinese-${shift}.ts`, 1, 2_000)),
      ...(await readOn(`chinese-${shift}.ts`, 2_001, 4_000)),
    ];
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.join("")).toBe(chinese(shift));
  },
);

describe("what is too long for one answer (I6)", () => {
  test("one line of 4 MB is clipped, says so, and is read on to its end", async () => {
    const { body } = await read("minified.js", 1, 1);
    expect(body).toMatchObject({ startLine: 1, endLine: 1, truncated: true, nextStartLine: 1, totalLines: 1 });
    expect(body.nextStartByte).toBeGreaterThan(0);
    expect((await readOn("minified.js", 1, 1)).join("")).toBe(minified);
  }, 60_000);

  test("400 lines of 2 KB end with a whole line, and nextStartLine goes on", async () => {
    const { body } = await read("wide.txt", 1, 400);
    expect(body).toMatchObject({ startLine: 1, endLine: 32, truncated: true, nextStartLine: 33, nextStartByte: 0 });
    expect((await readOn("wide.txt", 1, 400)).join("")).toBe(files["wide.txt"]);
  });

  test("more than 2,000 lines are refused with the total", async () => {
    const { status, body } = await read("quotes.txt", 1, 2_001);
    expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "RANGE_TOO_LARGE" });
    expect(body.error).toMatchObject({ details: { totalLines: 1024 * 1024, mostLines: 2_000 } });
    expect((await read("quotes.txt", 1_048_000, 2_000_000)).body).toMatchObject({
      endLine: 1_048_576,
      truncated: false,
    });
  });

  test("an answer stays below what the gateway passes on, also when every character is escaped (B6)", async () => {
    for (const path of ["quotes.txt", "control.txt"]) {
      const { status, body } = await read(path, 1, 2_000);
      expect(status).toBe(200);
      expect(Buffer.byteLength(JSON.stringify(JSON.stringify(JSON.stringify(body))))).toBeLessThan(5 * 1024 * 1024);
    }
  });

  test.each([
    [2, "inside of a character"],
    [99_999_999, "has no 99999999 bytes"],
  ])("startByte %i of a line is refused: %s", async (startByte, message) => {
    const path = startByte === 2 ? "目录/说明 #1.md" : "minified.js";
    const { body } = await read(path, 1, 1, { startByte });
    expect(body.error).toMatchObject({ type: "INVALID_RANGE", message: expect.stringContaining(message) });
  });

  test("startByte behind the end of its line is refused, also where more lines follow", async () => {
    expect(await refusal(read("three.txt", 1, 3, { startByte: 2 }))).toMatchObject({ type: "INVALID_RANGE" });
    expect(await refusal(read("wide.txt", 1, 40, { startByte: 70_000 }))).toMatchObject({ type: "INVALID_RANGE" });
    expect((await read("three.txt", 1, 3, { startByte: 1 })).body.content).toBe("\nb\nc\n");
  });
});

test("paths that lead anywhere but to a file's own name are refused alike, whether or not something is there (I7)", async () => {
  const missing = await refusal(read("no/such/file.ts", 1, 1));
  expect(missing).toEqual({
    status: 404,
    type: "FILE_NOT_FOUND",
    message: "There is no such file in this repository.",
  });
  const paths = [
    ...["../repo-secret/x", "a/../../x", "/etc/passwd", "..\\x", "%2e%2e/x", "x\u0000.ts", "./three.txt", "/three.txt"],
    ...["目录", "目录/", "three.txt/", "three.txt/x", "THREE.TXT", "//three.txt", "a/../three.txt", "three%2etxt", "."],
    ...["root.json", "content/0", "../root.json", `../../${repositoryId}/root.json`, "toString", "__proto__", "*.txt"],
  ];
  for (const path of paths) expect(await refusal(read(path, 1, 1)), path).toEqual(missing);
  expect((await read("constructor", 1, 1)).body.content).toBe("not inherited\n");
});

test("the range is inclusive, and is echoed with the total (I8)", async () => {
  const { body } = await read("wide.txt", 352, 372);
  expect(body).toMatchObject({ startLine: 352, endLine: 372, totalLines: 400 });
  expect(body.content.split("\n")).toHaveLength(22);
});

test("a path in any script is found, and sourceRef leads back to it", async () => {
  const { body } = await read("目录/说明 #1.md", 1, 2);
  expect(body).toMatchObject({ path: "目录/说明 #1.md", content: "一\n二\n" });
  const { protocol, host, pathname, hash } = new URL(String(body.sourceRef));
  expect({ protocol, host, hash }).toEqual({ protocol: "git:", host: "repo", hash: "#L1-L2" });
  expect(decodeURIComponent(pathname)).toBe(`/${repositoryId}/file/目录/说明 #1.md`);
});

test("a byte order mark stays where it is", async () => {
  expect((await read("bom.txt", 1, 1)).body.content).toBe("\ufeffa\n");
});

test.each(["image.png", "latin1.txt", "utf16.txt", "huge.txt"])("%s is named as what can't be read", async (path) => {
  const { status, body } = await read(path, 1, 1);
  expect({ status, type: body.error?.type }).toEqual({ status: 415, type: "FILE_NOT_TEXT" });
});

test("a near miss is answered with the name that was meant", async () => {
  const { body } = await read("tree.txt", 1, 1);
  expect(body.error?.hint).toContain("Did you mean three.txt?");
});

describe("arguments as models send them", () => {
  test('"10" is 10, and null for an optional one is absent (G3, G8)', async () => {
    expect((await read("wide.txt", "10", "11", { startByte: null })).body).toMatchObject({
      startLine: 10,
      endLine: 11,
    });
  });

  test.each([" 10 ", "10px", "", "1e3", "0x10", 1.5, true, [], null, "null"])(
    "startLine %j is refused by name (G3)",
    async (startLine) => {
      const { status, body } = await read("wide.txt", startLine, 20);
      expect({ status, type: body.error?.type }).toEqual({ status: 400, type: "INVALID_INPUT" });
      expect(body.error?.message).toContain("startLine");
    },
  );

  test("a misspelt parameter is refused with the right one (G6)", async () => {
    const { status, body } = await tool("read_file_range", {
      repositoryId,
      path: "three.txt",
      start_line: 2,
      endLine: 3,
    });
    expect(status).toBe(400);
    expect(body.error?.message).toContain("start_line: is no parameter; did you mean 'startLine'?");
  });
});

test("a failure is the HTTP status and {error} alone", async () => {
  const { status, body } = await read("no.such", 1, 1);
  expect(status).toBe(404);
  expect(Object.keys(body)).toEqual(["error"]);
  expect(body.error).toMatchObject({ hint: "The file does not exist. Try search_code first.", retryable: false });
});
