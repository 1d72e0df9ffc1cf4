import type { Draft } from "./draft.ts";
import type { Told } from "./texts.ts";
import { inputCode, outputCode } from "./zod_code.ts";

/* The files of a new tool as source code; Biome formats them afterwards. */

const json = (value: unknown) => JSON.stringify(value);

/** `functions/<name>/contract.ts` */
export function contractSource(draft: Draft): string {
  const { name, version, group, main, riskLevel, idempotent, sideEffect, requiresApproval, permissions, audience } =
    draft;
  const [input, output] = [inputCode(draft), outputCode(draft)];
  const fields = [...new Set([...input.fields, ...output.fields])].sort().join(", ");
  return `import * as z from "zod";
import { defineContract } from "../_runtime/contract.ts";
${fields && `import { ${fields} } from "../_runtime/fields.ts";`}

export const contract = defineContract({
  name: ${json(name)},
  title: ${json(draft.title.en)},
  displayName: ${json(draft.displayName)},
  description: ${json(draft.description.en)},
  version: ${json(version)},
  type: "function",
  category: ${json(draft.category.en)},
  group: ${json(group)},
  main: ${json(main)},
  riskLevel: ${json(riskLevel)},
  idempotent: ${idempotent},
  sideEffect: ${json(sideEffect)},
  requiresApproval: ${requiresApproval},
  permissions: ${json(permissions)},
  audience: ${json(audience)},
  input: ${input.code},
  output: ${output.code},
${draft.additions.length > 0 ? `  additions: { input: [], output: ${json(draft.additions)} },\n` : ""}  errorModel: ${json(errorModel(draft, input.fields.has("text")))},
  examples: ${json(draft.examples)},
  locales: {
    "zh-CN": {
      title: ${json(draft.title["zh-CN"])},
      description: ${json(draft.description["zh-CN"])},
      category: ${json(draft.category["zh-CN"])},
      input: ${json(chinese(draft.texts.input))},
      output: ${json(chinese(draft.texts.output))},
    },
  },
});
`;
}

/** Every error says what happened and what to do next (seed 002's checklist). */
function errorModel({ name, errorModel }: Draft, takesTexts: boolean): Record<string, string> {
  const told = Object.entries(errorModel).map(([type, text]) => [
    type,
    /^[A-Z].+\. [A-Z].+\.$/.test(text) ? text : `${text.replace(/[.。]?$/, ".")} TODO say what to do next.`,
  ]);
  const stub = `There is no ${name} yet, only what it will be. Go on without it, or ask the operator when it comes.`;
  const tooLarge = "A text is over 64 KiB. Shorten it, or put large material in a file and name its path.";
  return { ...(takesTexts && { CONTENT_TOO_LARGE: tooLarge }), ...Object.fromEntries(told), NOT_IMPLEMENTED: stub };
}

const chinese = (texts: Record<string, Told>) =>
  Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, text["zh-CN"]]));

/** `functions/<name>/handler.ts` */
export const handlerSource = () => `import { ToolError } from "../_runtime/errors.ts";
import { serve } from "../_runtime/serve.ts";
import { contract } from "./contract.ts";

// TODO write it: take \`input\` and the context, answer what contract.output says or throw a ToolError that errorModel
// explains, and take NOT_IMPLEMENTED out of errorModel. test/functions/ has a test of this tool, which fails until then.
export const handler = serve(contract, async () => {
  throw new ToolError("NOT_IMPLEMENTED", \`\${contract.name} is not implemented yet.\`);
});
`;

/** `test/functions/<name>.test.ts` */
export const testSource = ({ name }: Draft) => `import { afterAll, expect, test } from "vitest";
import { definition } from "../../functions/_runtime/manifest.ts";
import { contract } from "../../functions/${name}/contract.ts";
import { startTestSystem } from "../system.ts";

const system = await startTestSystem();
afterAll(() => system.stop());

// Fails until functions/${name}/handler.ts is written. Then put the sentences here that say what the tool does.
test("answers its examples as they say", async () => {
  for (const { input, output } of contract.examples) {
    const { status, body } = await system.tool(contract.name, input);
    expect({ status, body }).toEqual({ status: 200, body: output });
  }
});

test("says everything in English and in Chinese", () => {
  expect(JSON.stringify(definition(contract, "en"))).not.toMatch(/TODO|待翻译/);
});
`;
