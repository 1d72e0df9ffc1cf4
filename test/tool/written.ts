import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { OperatorError } from "../../infra/arguments.ts";
import { type Draft, draftOfDefinition, draftOfSeed } from "../../infra/tool/draft.ts";
import { readFormat } from "../../infra/tool/formats.ts";
import { readManifestFile } from "../../infra/tool/manifest_file.ts";

/* Manifests that people wrote, and what `npm run tool -- import` makes of them. */

const folder = mkdtempSync(join(tmpdir(), "manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

export const inFolder = (name: string) => join(folder, name);

/** A manifest's file, with the content as it is: text in UTF-8, or bytes. */
function written(content: string | Buffer): string {
  const file = join(folder, "manifest.json");
  writeFileSync(file, content);
  return file;
}

export const value = (content: string | Buffer) => readManifestFile(written(content)).value;

export function draft(content: string): Draft {
  const file = readManifestFile(written(content));
  const read = readFormat(file);
  const choices = { permission: undefined, title: undefined };
  return "seed" in read ? draftOfSeed(read.seed, file, choices) : draftOfDefinition(read.definition, file, choices);
}

/** What is said of a manifest that is refused, without the folder. */
export function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof OperatorError) return error.message.replaceAll(`${folder}/`, "");
    throw error;
  }
  throw new Error("It was not refused.");
}

export const plain = {
  name: "send_invoice",
  title: "发送发票",
  description: "把发票发给客户。",
  type: "function",
  category: "财务",
  group: "invoice",
  main: "./index.js",
  params: [{ name: "url", type: "string", description: "地址", default: "https://h/x" }],
  returns: [{ name: "count", type: "number", description: "数量", default: 0 }],
};
/** The plain manifest with something else in it, one key a line. */
export const manifest = (changes: object = {}) => JSON.stringify({ ...plain, ...changes }, undefined, 2);
export const param = (changes: object) => manifest({ params: [{ ...plain.params[0], ...changes }] });

export const definition = {
  name: "send_invoice",
  displayName: "Send Invoice",
  description: "Sends an invoice. Use it when the work is done.",
  version: "1.0.0",
  riskLevel: "medium",
  idempotent: false,
  sideEffect: "external",
  requiresApproval: false,
  permissions: ["invoice:send"],
  inputSchema: {
    type: "object",
    required: ["to"],
    properties: { to: { type: "string", description: "Who gets it." } },
  },
  outputSchema: { type: "object", required: ["sent"], properties: { sent: { type: "boolean" } } },
  errorModel: { INVOICE_LOCKED: "Somebody writes it. Wait for them." },
  examples: [{ input: { to: "bob" }, output: { sent: true } }],
};
export const defined = (changes: object) => JSON.stringify({ ...definition, ...changes }, undefined, 2);
