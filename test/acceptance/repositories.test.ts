import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tool } from "./target_client.ts";

/* The repository `seeds` is this project's test/seeds, synced before: `npm run repo -- sync test/seeds --id seeds`. */
const repositoryId = "seeds";
const linesOf = (file: string) => readFileSync(join(import.meta.dirname, "../seeds", file), "utf8").split(/(?<=\n)/);

test("what search_code finds, read_file_range reads", async () => {
  const query = '"name": "read_file_range"';
  const search = await tool("search_code", { repositoryId, query, paths: ["*.txt"] });
  expect(search).toMatchObject({ status: 200, body: { stoppedEarly: false, nextCursor: "" } });
  const [{ path, line, sourceRef } = { path: "", line: 0, sourceRef: "" }, ...others] = search.body.matches;
  expect({ path, others }).toEqual({ path: "tool_definition_template.txt", others: [] });

  const lines = linesOf(path);
  const read = await tool("read_file_range", { repositoryId, path, startLine: line, endLine: line + 2 });
  expect(read).toMatchObject({ status: 200, body: { totalLines: lines.length, truncated: false } });
  expect(read.body.content).toBe(lines.slice(line - 1, line + 2).join(""));
  expect(read.body.content).toContain(query);
  expect(sourceRef.split(/[?#]/)[0]).toBe(`git://repo/${repositoryId}/file/${path}`);
});

test("a Chinese text is found whatever the case around it", async () => {
  const { status, body } = await tool("search_code", { repositoryId, query: "附录 e：tool", caseSensitive: false });
  expect(status).toBe(200);
  expect(body.matches).toMatchObject([{ path: "tool_definition_template.txt", line: 1, startByte: 0 }]);
});

test.each([["../secret"], ["no/such/file"], ["content/0"]])(
  "the path %s is refused like every other that is no file",
  async (path) => {
    const { status, body } = await tool("read_file_range", { repositoryId, path, startLine: 1, endLine: 1 });
    expect(status).toBe(404);
    expect(body).toEqual({ error: expect.objectContaining({ type: "FILE_NOT_FOUND", retryable: false }) });
  },
);

test("a repository that is not there is refused", async () => {
  const { status, body } = await tool("search_code", { repositoryId: "no-such-repository", query: "x" });
  expect(status).toBe(403);
  expect(body.error).toMatchObject({ type: "PERMISSION_DENIED" });
});
