import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";

export const contract = defineContract({
  name: "search_code",
  title: "Search code",
  displayName: "Search Code",
  description:
    "Finds lines in the files of a repository, by text or by regular expression. Use it when you don't know which file or line holds something; " +
    "then read around a match with read_file_range (give it path, and line as startLine). A match lies within one line, each line is shown once, " +
    "sorted by path and line. At most 100 matches per page. One call reads at most 16 MiB and for 8 seconds: stoppedEarly says that there may be " +
    "more, and nextCursor goes on. Fixed text of at least 3 bytes in the query is found by an index; without any, files are read one after another. " +
    "Text is compared as it is stored, not normalized. Binary files and files over 16 MiB are not searched.",
  version: "1.0.0",
  type: "function",
  category: "Repositories",
  group: "repository",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "none",
  requiresApproval: false,
  permissions: ["repo:read"],
  audience: "agent",
  input: z.strictObject({
    repositoryId: z.string().min(1).max(64).describe("Repository identifier."),
    query: z.string().min(1).max(1000).meta({
      "x-text": "text",
      description: "Text to find, exactly as it stands in a line; with regex a regular expression.",
    }),
    regex: z
      .boolean()
      .default(false)
      .describe(
        "Whether query is a regular expression in RE2 syntax (no look-around, no back-references), tried on each line.",
      ),
    caseSensitive: z.boolean().default(true).describe("Whether upper and lower case differ."),
    paths: z
      .array(z.string().min(1).max(200).meta({ "x-text": "text" }))
      .max(20)
      .default([])
      .describe(
        "Only files whose path matches one of these globs (*, **, ?, [a-z], {a,b}), like src/**/*.ts; one without / is for file names " +
          "anywhere; one that begins with ! excludes. Empty for all files.",
      ),
    cursor: z.string().max(1024).default("").describe("nextCursor of the page before; empty for the first page."),
    limit: z.int().min(1).max(100).default(50).describe("Matches per page, from 1 to 100."),
  }),
  output: z.strictObject({
    repositoryId: z.string().describe("Repository identifier."),
    matches: z
      .array(
        z.strictObject({
          path: z.string().describe("File path relative to repository root."),
          line: z.int().describe("Number of the line, counted from 1."),
          startByte: z.int().describe("Where in the line the match begins, in bytes."),
          excerpt: z
            .string()
            .describe("The line, or the part of a long line around the match, at most 240 characters; … marks a cut."),
          sourceRef: z
            .string()
            .describe(
              "Reference to the line: git://repo/<repositoryId>/file/<path>#L<line>-L<line>, with ?commit= before # where the commit is known.",
            ),
        }),
      )
      .describe("The matching lines of this page, sorted by path and line."),
    stoppedEarly: z
      .boolean()
      .describe(
        "Whether the search stopped at its limit of time or bytes, before the page was full: go on with nextCursor.",
      ),
    nextCursor: z
      .string()
      .describe("Give it as cursor to go on in the same snapshot; empty when all has been searched."),
    note: z.string().optional().describe("What makes this search slow, and how to ask better."),
  }),
  errorModel: {
    PERMISSION_DENIED:
      "The API key may not search this repository. Check repositoryId, or ask the operator for a key that may read it.",
    INVALID_PATTERN:
      "The regular expression or a glob can't be read. Correct what the message names; search for plain text with regex false.",
    INVALID_CURSOR:
      "The cursor is of another search, or of a snapshot that is gone by now. Leave cursor out to start with the first page.",
  },
  examples: [
    {
      input: { repositoryId: "order-service", query: "class OrderStateMachine", paths: ["src/main/**/*.java"] },
      output: {
        repositoryId: "order-service",
        matches: [
          {
            path: "src/main/java/com/company/order/state/OrderStateMachine.java",
            line: 17,
            startByte: 7,
            excerpt: "public class OrderStateMachine {",
            sourceRef:
              "git://repo/order-service/file/src/main/java/com/company/order/state/OrderStateMachine.java#L17-L17",
          },
        ],
        stoppedEarly: false,
        nextCursor: "",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "搜索代码",
      description:
        "在代码仓库的文件中按文本或正则表达式查找行。不知道内容在哪个文件、哪一行时调用；找到后用 read_file_range 读取上下文（传入 path，并把 line 作为 startLine）。" +
        "匹配限于一行之内，每行只列一次，按路径和行号排序。每页最多 100 条。一次调用最多读取 16 MiB、用时 8 秒，提前停止时 stoppedEarly 为 true，用 nextCursor 继续。" +
        "查询中至少 3 个字节的固定文本可由索引查找，否则逐个读取文件。按存储的原文比较，不做规范化。不搜索二进制文件和超过 16 MiB 的文件。" +
        "触发关键词：搜索代码、查找代码、在哪里定义、哪里用到",
      category: "代码仓库",
      input: {
        repositoryId: "代码仓库标识",
        query: "要查找的文本，须与行内文字一致；regex 为 true 时是正则表达式",
        regex: "query 是否为 RE2 语法的正则表达式（没有环视和反向引用），逐行匹配，默认 false",
        caseSensitive: "是否区分大小写，默认 true",
        paths:
          "只搜索路径符合其中某个通配模式（*、**、?、[a-z]、{a,b}）的文件，如 src/**/*.ts；不含 / 的模式匹配任意目录下的文件名，以 ! 开头表示排除，为空则搜索全部",
        cursor: "上一页返回的 nextCursor，首页为空",
        limit: "每页匹配数量，1 到 100，默认 50",
      },
      output: {
        repositoryId: "代码仓库标识",
        matches: "本页匹配的行，按路径和行号排序",
        "matches[].path": "相对于仓库根目录的文件路径",
        "matches[].line": "行号，从 1 开始",
        "matches[].startByte": "匹配在该行中的起始位置（字节）",
        "matches[].excerpt": "该行内容，长行只取匹配附近的部分，最多 240 个字符，… 表示有省略",
        "matches[].sourceRef":
          "来源引用：git://repo/<repositoryId>/file/<path>#L<行>-L<行>，已知提交时在 # 之前带 ?commit=",
        stoppedEarly: "是否在页满之前因时间或字节上限而停止，可用 nextCursor 继续",
        nextCursor: "作为 cursor 传入，在同一快照中继续；全部搜索完毕则为空",
        note: "搜索变慢的原因，以及如何改进查询",
      },
    },
  },
});
