import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
import { envelope, requestedFile, requestedFiles, text, title, userName } from "../_runtime/fields.ts";

export const contract = defineContract({
  name: "register_project",
  title: "Register project",
  displayName: "Register Project",
  description:
    "States a user's project: its root directory, what it is about, and the files that the user needs. Use it before work on a project " +
    "is assigned, so that every agent learns these with its tasks, and again to change them; fields that are left out get their defaults. " +
    "Description and files are at most 64 KiB each.",
  version: "1.0.0",
  type: "function",
  category: "Agent collaboration",
  group: "agent",
  main: "./index.js",
  riskLevel: "low",
  idempotent: true,
  sideEffect: "internal",
  requiresApproval: false,
  permissions: ["task:assign"],
  audience: "agent",
  input: z.strictObject({
    user_name: userName("Name of the user whose project it is (unique English name)."),
    project_name: title("Project name, in any script.").min(1),
    project_root_dir: z
      .string()
      .max(1024)
      .default("")
      .meta({ "x-text": "name", description: "Root directory of the project, where the agents work." }),
    description: text("What the project is about; Markdown is allowed. At most 64 KiB in UTF-8.").default(""),
    files: requestedFiles("Files that the user clearly needs. At most 64 KiB together.").default([]),
  }),
  output: z.strictObject({
    ...envelope,
    user_name: z.string().default("").describe("Name of the user whose project it is (unique English name)."),
    project_name: z.string().default("").describe("Project name."),
    project_root_dir: z.string().default("").describe("Root directory of the project."),
    description: z.string().default("").describe("What the project is about."),
    files: z.array(requestedFile).default([]).describe("Files that the user needs."),
    created: z.boolean().default(false).describe("true when the project is new, false when it was updated."),
  }),
  errorModel: {
    CONTENT_TOO_LARGE:
      "The description or the file list is over 64 KiB. Shorten it, or put large material in a file and name its path.",
  },
  examples: [
    {
      input: {
        user_name: "alice",
        project_name: "官网改版",
        project_root_dir: "/srv/website",
        description: "新版官网，十二月上线。",
        files: [{ name: "home.md", demand: "首页文案", file: "docs/home.md" }],
      },
      output: {
        code: 0,
        msg: "",
        user_name: "alice",
        project_name: "官网改版",
        project_root_dir: "/srv/website",
        description: "新版官网，十二月上线。",
        files: [{ name: "home.md", demand: "首页文案", file: "docs/home.md" }],
        created: true,
      },
    },
  ],
  locales: {
    "zh-CN": {
      title: "登记项目",
      description:
        "登记用户的项目：根目录、项目描述和用户需要的文件。在给项目分配工作之前调用，智能体会随任务得到这些信息；需要修改时再次调用，" +
        "未填写的字段恢复默认值。描述和文件清单各最多 64 KiB。触发关键词：新建项目、登记项目、设置项目根目录",
      category: "智能体协作",
      input: {
        user_name: "项目所属的用户名（英文名，唯一标识）",
        project_name: "项目名，可用任何文字",
        project_root_dir: "项目根目录，智能体在此工作",
        description: "项目描述，支持Markdown格式，最多 64 KiB（UTF-8）",
        files: "文件清单，用户明确需要的文件，合计最多 64 KiB",
        "files[].name": "文件名",
        "files[].demand": "文件需求描述，支持Markdown格式",
        "files[].file": "文件路径，要修改的文件路径或者最终处理后文件的保存路径",
      },
      output: {
        code: "状态码",
        msg: "状态描述",
        user_name: "项目所属的用户名（英文名，唯一标识）",
        project_name: "项目名",
        project_root_dir: "项目根目录",
        description: "项目描述",
        files: "文件清单，用户明确需要的文件",
        "files[].name": "文件名",
        "files[].demand": "文件需求描述",
        "files[].file": "文件路径",
        created: "新登记为 true，更新已有项目为 false",
      },
    },
  },
});
