import * as z from "zod";
import { formatNames } from "../../functions/_workers/catalog/catalog.ts";
import type { TestSystem } from "../system.ts";
import { everySchema } from "./manifest_reader.ts";
import type { AnySchema } from "./schema_arbitrary.ts";

/** The formats that go to a model. */
export const platformFormats = formatNames.filter((format) => format !== "definition" && format !== "seed");

const schema = z.custom<AnySchema>((value) => typeof value === "object" && value !== null);
const described = { name: z.string(), description: z.string() };

/** What a platform's API takes as its `tools`, and where the input schema stands in it. */
const shapes: Record<string, z.ZodType<{ name: string; description: string; input: AnySchema }>> = {
  mcp: z
    .looseObject({ ...described, inputSchema: schema })
    .transform(({ inputSchema, ...tool }) => ({ ...tool, input: inputSchema })),
  openai: z
    .strictObject({
      type: z.literal("function"),
      function: z.strictObject({ ...described, parameters: schema, strict: z.boolean() }),
    })
    .transform(({ function: { parameters, ...tool } }) => ({ ...tool, input: parameters })),
  "openai-responses": z
    .strictObject({ type: z.literal("function"), ...described, parameters: schema, strict: z.boolean() })
    .transform(({ parameters, ...tool }) => ({ ...tool, input: parameters })),
  anthropic: z
    .strictObject({ ...described, input_schema: schema })
    .transform(({ input_schema, ...tool }) => ({ ...tool, input: input_schema })),
  gemini: z
    .strictObject({ ...described, parameters: schema.default({ type: "object", properties: {} }) })
    .transform(({ parameters, ...tool }) => ({ ...tool, input: parameters })),
};

const loss = z.strictObject({
  tool: z.string(),
  fields: z.array(z.string()),
  keywords: z.record(z.string(), z.array(z.string())),
});
type Loss = z.output<typeof loss>;

const catalog = z.object({ tools: z.array(z.record(z.string(), z.unknown())), losses: z.array(loss).default([]) });

/** One tool as a format exports it. */
export interface Exported {
  format: string;
  lang: string;
  name: string;
  description: string;
  /** Its input schema, wherever the format keeps it. */
  input: AnySchema;
  /** The tool as it is. */
  tool: Record<string, unknown>;
  losses: Loss;
}

/** The tools of a catalog's answer. @throws {z.ZodError} when it has not the platform's shape */
export function exportedTools(format: string, lang: string, answer: unknown): Exported[] {
  const { tools, losses } = catalog.parse(answer);
  const groups = z.object({ functionDeclarations: z.array(z.record(z.string(), z.unknown())) });
  const all = format === "gemini" ? tools.flatMap((group) => groups.parse(group).functionDeclarations) : tools;
  return all.map((tool, index) => {
    const { name, description, input } = z.parse(shapes[format] ?? z.never(), tool);
    return {
      format,
      lang,
      name,
      description,
      input,
      tool,
      losses: losses[index] ?? { tool: "", fields: [], keywords: {} },
    };
  });
}

/** Every tool in every platform's format and language, as the system serves them. */
export async function fetchFormats(system: TestSystem): Promise<Exported[]> {
  const asked = platformFormats.flatMap((format) => ["en", "zh-CN"].map((lang) => ({ format, lang })));
  const answers = asked.map(async ({ format, lang }) =>
    exportedTools(format, lang, await system.get(`/v1/tools?format=${format}&lang=${lang}`)),
  );
  return (await Promise.all(answers)).flat();
}

/** A schema of any format and every schema inside it. */
export const everyPlace = (schema: AnySchema): { path: string; schema: AnySchema }[] =>
  everySchema(schema as Parameters<typeof everySchema>[0]);
