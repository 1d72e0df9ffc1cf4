import * as z from "zod";
import { lineEndings } from "../_repositories/line_endings.ts";
import { defineContract } from "../_runtime/contract.ts";

/** Stated in the description: what an answer holds at most. */
export const mostLines = 2_000;
export const mostContentBytes = 64 * 1024;

export const contract = defineContract({
  name: "read_file_range",
  title: "Read file range",
  displayName: "Read File Range",
  description:
    "Read a specific line range from a repository file. Use when the Agent needs a focused code snippet instead of the full file. " +
    "Lines count from 1, and endLine is the last line, not a number of lines. At most 2,000 lines are asked for at once and at most 64 KiB " +
    "are returned; a longer answer is cut, truncated says so, and nextStartLine (with nextStartByte inside a very long line) is where to go on. " +
    "Only \\n and \\r\\n end a line; both are shown as \\n. sourceRef names what was read.",
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
    path: z.string().min(1).max(4096).meta({ "x-text": "text", description: "File path relative to repository root." }),
    startLine: z.int().min(1).max(1_000_000_000).describe("First line to read, counted from 1."),
    endLine: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .describe("Last line to read, included; past the file's end means its last line."),
    startByte: z
      .int()
      .min(0)
      .max(1_000_000_000)
      .default(0)
      .describe("Bytes of startLine to skip: nextStartByte of the answer before, or startByte of a search_code match."),
  }),
  output: z.strictObject({
    repositoryId: z.string().describe("Repository identifier."),
    path: z.string().describe("File path relative to repository root."),
    startLine: z.int().describe("First line that was read."),
    endLine: z.int().describe("Last line that was read, at least in part; 0 when the file is empty."),
    content: z.string().describe("The lines, each with its end as \\n: at most 64 KiB."),
    truncated: z.boolean().describe("Whether content ends before the range that was asked for does."),
    sourceRef: z
      .string()
      .optional()
      .describe(
        "Reference to the lines: git://repo/<repositoryId>/file/<path>#L<first>-L<last>, with ?commit= before # where the commit is known.",
      ),
    totalLines: z.int().optional().describe("Lines of the whole file."),
    lineEnding: z
      .enum(lineEndings)
      .optional()
      .describe("How the file's lines end: lf, crlf, mixed, or none if it has no line end."),
    nextStartLine: z.int().optional().describe("Where to go on when truncated: give it as startLine."),
    nextStartByte: z
      .int()
      .optional()
      .describe("Where to go on inside of that line: give it as startByte; 0 at its beginning."),
  }),
  errorModel: {
    FILE_NOT_FOUND: "The file does not exist. Try search_code first.",
    RANGE_TOO_LARGE: "The requested range is too large. Request a smaller range.",
    PERMISSION_DENIED:
      "The user does not have permission to read this file. Check repositoryId, or ask the operator for a key that may read this repository.",
    INVALID_RANGE:
      "The file has no such lines, or the range ends before it begins. Choose lines from 1 to the total that the message gives.",
    FILE_NOT_TEXT:
      "The file is binary, not in UTF-8, or too large, so only its name is kept. Read another file; search_code finds those that can be read.",
  },
  examples: [
    {
      input: {
        repositoryId: "order-service",
        path: "src/main/java/com/company/order/state/OrderStateMachine.java",
        startLine: 70,
        endLine: 100,
      },
      output: {
        repositoryId: "order-service",
        path: "src/main/java/com/company/order/state/OrderStateMachine.java",
        startLine: 70,
        endLine: 100,
        content: "...",
        truncated: false,
        sourceRef: "git://repo/order-service/file/src/main/java/.../OrderStateMachine.java#L70-L100",
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "读取文件行范围",
      description:
        "读取代码仓库中某个文件的指定行范围。智能体只需要一段代码、而不需要整个文件时调用。行号从 1 开始，endLine 是最后一行的行号（含该行），不是行数。" +
        "一次最多请求 2000 行，最多返回 64 KiB；超出时内容会被截断，truncated 为 true，并由 nextStartLine（超长行内还有 nextStartByte）指出从哪里继续。" +
        "只有 \\n 和 \\r\\n 算换行，返回时统一为 \\n。sourceRef 指明所读内容的来源。触发关键词：读取代码、查看文件、看第几行",
      category: "代码仓库",
      input: {
        repositoryId: "代码仓库标识",
        path: "相对于仓库根目录的文件路径",
        startLine: "起始行号，从 1 开始",
        endLine: "结束行号（含该行），超过文件末尾时读到最后一行",
        startByte: "跳过起始行开头的字节数：上一次返回的 nextStartByte，或 search_code 匹配项的 startByte，默认 0",
      },
      output: {
        repositoryId: "代码仓库标识",
        path: "相对于仓库根目录的文件路径",
        startLine: "实际读取的起始行号",
        endLine: "实际读到的最后一行（可能只有一部分），空文件为 0",
        content: "读取到的内容，每行以 \\n 结尾，最多 64 KiB",
        truncated: "内容是否在请求的范围结束之前被截断",
        sourceRef: "来源引用：git://repo/<repositoryId>/file/<path>#L<首行>-L<末行>，已知提交时在 # 之前带 ?commit=",
        totalLines: "文件总行数",
        lineEnding: "文件的换行方式：lf、crlf、mixed（混用）或 none（没有换行）",
        nextStartLine: "被截断时从这一行继续，作为 startLine 传入",
        nextStartByte: "在该行内继续的位置，作为 startByte 传入；从行首继续时为 0",
      },
    },
  },
});
