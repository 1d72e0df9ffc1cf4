import type { JsonSchema } from "../../functions/_runtime/schema.ts";

/** A text in both languages. */
export interface Told {
  en: string;
  "zh-CN": string;
}

/*
 * What isn't known in one language stands there in the other, behind a mark: agents can use the tool meanwhile, and
 * the tool's own test fails for as long as a mark is left.
 */
const marks = { en: "TODO translate: ", "zh-CN": "待翻译：" };

const isChinese = (text: string) => /\p{Script=Han}/u.test(text);

/** A title, or another text that is no sentence. */
export const inBoth = (text: string): Told =>
  isChinese(text) ? { en: marks.en + text, "zh-CN": text } : { en: text, "zh-CN": marks["zh-CN"] + text };

function sentence(text: string): Told {
  const { en, ...rest } = inBoth(text);
  return { en: `${en.replace(/[.。]$/, "")}.`, ...rest };
}

/** `read_file_range`, `readFileRange` → `Read file range`. */
export function titleOf(name: string): string {
  const words = name
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()
    .replaceAll(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const saysWhen = /\b(Use|Call)( it)? (when|once|before|to)\b/;

/** A tool's description; when to use it is asked for where it isn't said. */
export function toldDescription(text: string | undefined): Told {
  const told = text === undefined ? { en: "TODO say what it does.", "zh-CN": "待翻译：TODO" } : sentence(text);
  return saysWhen.test(told.en) ? told : { ...told, en: `${told.en} TODO say when: Use it when ….` };
}

/** The texts of all fields, by path. */
export function toldFields(schema: JsonSchema, path = ""): Record<string, Told> {
  const inside = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return { [at]: toldField(name, property), ...toldFields(property, at) };
  });
  return Object.assign({}, ...inside, schema.items && toldFields(schema.items, `${path}[]`));
}

/** Of these a limit is stated (seed 002's checklist); `zod_code.ts` sets it. */
export const isLongText = (name: string) => name === "content" || name === "detailed";

function toldField(name: string, { description }: JsonSchema): Told {
  const told = described(name, description);
  return isLongText(name) && !/at most \d+ KiB/i.test(told.en) ? { ...told, en: `${told.en} At most 64 KiB.` } : told;
}

function described(name: string, description: string | undefined): Told {
  if (description === undefined) return { en: `TODO describe ${name}.`, "zh-CN": `${marks["zh-CN"]}${name}` };
  return known.get(description) ?? sentence(description);
}

/** Of the field that this command adds to a tool that returns content. */
export const sourceDescription = "Reference to where the content is from.";

/** Descriptions that this command writes itself. */
const known: ReadonlyMap<string, Told> = new Map([
  [sourceDescription, { en: sourceDescription, "zh-CN": "内容来源的引用" }],
]);
