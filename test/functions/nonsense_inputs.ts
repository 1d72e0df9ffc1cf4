import type { Contract } from "../../functions/_runtime/contract.ts";
import { annotatedInputSchema, type JsonSchema } from "../../functions/_runtime/schema.ts";
import { everySchema } from "./manifest_reader.ts";

/** A request body that no tool may take, and what is wrong with it. */
export interface Nonsense {
  about: string;
  body: string;
}

type Step = string | 0;
type Input = Record<string, unknown>;

/** Stands in the JSON as it is, although no JavaScript value is written so. */
const raw = (json: string) => `raw:${json}:raw`;
const toJson = (value: unknown) =>
  JSON.stringify(value).replace(/"raw:(.*?):raw"/g, (_, json) => JSON.parse(`"${json}"`));

const deep = "[".repeat(20_000) + "]".repeat(20_000);
const wrongTypes: Record<string, unknown[]> = {
  string: [7, true, [], {}, [{}], raw("1e400"), raw(deep)],
  integer: [
    ...[" 10 ", "10px", "", "1e3", "0x10", "1.5", "９", 1.5, true, [], {}, "9007199254740993"],
    ...["9007199254740993", "1e400", "-1e400", deep].map(raw),
  ],
  boolean: ["", "yes", "TRUE", 1, 0, [], {}],
  array: [7, true, {}, "", "x", "[", '"[]"', "{}", "[1e400]", { length: 1 }, raw(deep), deep],
  object: [7, true, [], "", "x", "{", '"{}"', "[]", raw(deep), deep],
};

function outOfBounds({ minimum, maximum, minLength, maxLength, maxItems, enum: allowed }: JsonSchema): unknown[] {
  return [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength ? [""] : []),
    ...(maxLength === undefined ? [] : ["a".repeat(maxLength + 1)]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => "a")]),
    ...(allowed ?? []).flatMap((value) => [` ${value}`, value.toUpperCase(), `${value}\u200b`]),
    ...(allowed === undefined ? [] : ["constructor", "__proto__", "toString"]),
  ];
}

/** Every parameter, at any depth, with values of other types and beyond its bounds. */
export const wrongValues = (contract: Contract, input: Input): Nonsense[] =>
  places(contract).flatMap(({ path, schema, isRequired }, index) =>
    [
      ...someOf(wrongTypes[schema.type ?? ""] ?? [], index),
      ...outOfBounds(schema),
      // Where a parameter may be absent, null says just that.
      ...(isRequired ? [null, undefined] : []),
    ].map((value) => nonsense(input, steps(path), value)),
  );

const halves = ["\ud800", "a\udc00b", "😀\ud83d"];

/** Halves of characters in every text. */
export const halfCharacters = (contract: Contract, input: Input): Nonsense[] =>
  places(contract)
    .filter(({ schema }) => schema.type === "string")
    .flatMap(({ path }, index) => someOf(halves, index, 1).map((text) => nonsense(input, steps(path), text)));

/** Zero-width, byte order mark, bidi, controls, line ends, soft hyphen, blanks that are letters, tags. */
const hidden = [
  "\u200b",
  "\ufeff",
  "\u202e",
  "\u2066",
  "\0",
  "\n",
  "\u2028",
  "\u00ad",
  "\u2800",
  "\u3164",
  "\u{e0041}",
];
const badNames = [
  ...hidden.map((character) => `a${character}b`),
  ...["\u200ba", "a\ufeff", "a\n"],
  ...[" a", "a ", "a\u00a0", "a\ufffdb", "null", "None", "undefined", "UNKNOWN"],
];

/** Names that carry what nobody sees, that were damaged on their way, or that stand for no name. */
export const hiddenInNames = (contract: Contract, input: Input): Nonsense[] =>
  places(contract)
    .filter(({ schema }) => schema["x-text"] === "name")
    .flatMap(({ path }, index) => someOf(badNames, index).map((name) => nonsense(input, steps(path), name)));

/** Parameters that don't exist, beside those that do, at every depth. */
export const unknownFields = (contract: Contract, input: Input): Nonsense[] =>
  everySchema(annotatedInputSchema(contract))
    .filter(({ schema }) => schema.type === "object")
    .flatMap(({ path }) =>
      ["no_such", "__proto__", "constructor", "hasOwnProperty", "", "\ud800", "0", "x".repeat(10_000)].map((name) =>
        nonsense(input, [...steps(path), name], { admin: true }),
      ),
    );

/**
 * Names that a reader takes for this one: in full width, Cyrillic, with the Kelvin sign, with something that is not
 * seen, with a space; and such as would mean something else in a key or a path.
 */
export const lookAlikes = (name: string) =>
  [
    name.replace(/[a-z]/g, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)),
    name.replace("e", "\u0435").replace("i", "\u0456").replace("c", "\u0441"),
    name.replace("k", "\u212a"),
    ...["\u200b", "\ufeff", "\0", " ", "#", "%23"].map((mark) => `${name}${mark}`),
    ...["\u202e", "\n", "/../"].map((mark) => `${name[0]}${mark}${name.slice(1)}`),
  ].filter((alike) => alike !== name);

/** A few of many, others at each place, so that all have their turn in a run that takes seconds. */
const someOf = <T>(all: readonly T[], index: number, count = 4): T[] =>
  Array.from({ length: Math.min(count, all.length) }, (_, at) => all[(index * count + at) % all.length] as T);

/** The places of an input that hold one of the given names. */
export const pathsOf = (contract: Contract, names: readonly string[]) =>
  places(contract)
    .map(({ path }) => path)
    .filter((path) => names.includes(path));

function places(contract: Contract) {
  return everySchema(annotatedInputSchema(contract))
    .filter(({ path }) => path !== "")
    .map(({ path, schema, around }) => {
      const name = path.split(".").at(-1) ?? "";
      const isRequired = path.endsWith("[]") || around.at(-1)?.required?.includes(name) === true;
      return { path, schema, isRequired };
    });
}

const steps = (path: string): Step[] =>
  path === ""
    ? []
    : path
        .replaceAll("[]", ".0")
        .split(".")
        .map((step) => (step === "0" ? 0 : step));

/** `input` with one wrong value in it. */
export function nonsense(input: Input, at: readonly Step[] | string, value: unknown): Nonsense {
  const where = typeof at === "string" ? steps(at) : at;
  const shown = value === undefined ? "nothing" : toJson(value).slice(0, 60);
  return { about: `${where.join(".").slice(0, 60)} = ${shown}`, body: toJson(withValue(input, where, value)) };
}

function withValue(around: unknown, [step, ...inside]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (step === 0) {
    const list = Array.isArray(around) ? around : [];
    return [withValue(list[0], inside, value), ...list.slice(1)];
  }
  return { ...(around as Input), [step]: withValue((around as Input | undefined)?.[step], inside, value) };
}
