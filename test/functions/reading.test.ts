import { afterAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type Contract, defineContract } from "../../functions/_runtime/contract.ts";
import { ToolError } from "../../functions/_runtime/errors.ts";
import { requestedFiles, returnedFiles, text, title } from "../../functions/_runtime/fields.ts";
import { readInput } from "../../functions/_runtime/input.ts";
import { parseEvent, readJson } from "../../functions/_runtime/request.ts";
import { inputSchema } from "../../functions/_runtime/schema.ts";
import { contracts } from "../../functions/tools.ts";
import { acts } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { gatewayEvent } from "./wire.ts";

const system = await startTestSystem();
afterAll(() => system.stop());
const { tool } = system;

/** One parameter of each kind that contracts have. */
const { speaker: _, echo: __, ...base } = contracts[0] as Contract;
const everything = defineContract({
  ...base,
  name: "everything",
  input: z.strictObject({
    name: title("A name.").default(""),
    content: text("A text.").default(""),
    limit: z.int().min(1).max(50).default(20),
    ratio: z.number().optional(),
    flag: z.boolean().default(false),
    files: requestedFiles("Files.").default([]),
    paths: returnedFiles("Paths.").default([]),
    task: z.strictObject({ name: title("Task name."), tags: z.array(z.string()).default([]) }).optional(),
    role: z.enum(["master", "member"]).optional(),
  }),
});

const read = (raw: unknown) => readInput(everything, raw);
const defaults = { name: "", content: "", limit: 20, flag: false, files: [], paths: [] };

function refusal(raw: unknown, contract: Contract = everything): ToolError {
  try {
    readInput(contract, raw);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(raw)} was not refused.`);
}

describe("what is absent", () => {
  test.each([[undefined], [null], [""], [{}]])("arguments that are %j count as none", (raw) => {
    expect(read(raw)).toEqual(defaults);
  });

  test.each(["", "null", '""', "{}", "  {} "])(
    "a tool without required parameters runs with the body '%s'",
    async (body) => {
      const headers = { authorization: `Bearer ${system.key}`, "content-type": "application/json" };
      const response = await fetch(`${system.url}/v1/tools/list_agents`, { method: "POST", headers, body });
      expect(response.status).toBe(200);
    },
  );

  test("null for a parameter that may be left out is the same as leaving it out", () => {
    const names = Object.keys(everything.input.shape);
    expect(read(Object.fromEntries(names.map((name) => [name, null])))).toEqual(defaults);
    expect(read({ files: [{ name: "a", demand: null, file: null }] }).files).toEqual([{ name: "a" }]);
  });

  describe.each(contracts)("$name", (contract: Contract) => {
    const { properties = {}, required = [] } = inputSchema(contract);
    const right = contract.examples[0]?.input ?? {};
    const optional = Object.keys(properties).filter((name) => !required.includes(name));

    test("reads null for all that may be left out as leaving it out", () => {
      const needed = Object.fromEntries(Object.entries(right).filter(([name]) => required.includes(name)));
      const nulls = Object.fromEntries(optional.map((name) => [name, null]));
      expect(readInput(contract, { ...needed, ...nulls })).toEqual(readInput(contract, needed));
    });

    test("reads an empty text for a name or an id that may be left out as leaving it out", () => {
      const needed = Object.fromEntries(Object.entries(right).filter(([name]) => required.includes(name)));
      const texts = optional.filter((name) => {
        const { type, enum: values, minLength } = properties[name] ?? {};
        return type === "string" && values === undefined && minLength === undefined;
      });
      const empty = Object.fromEntries(texts.map((name) => [name, ""]));
      expect(readInput(contract, { ...needed, ...empty })).toEqual(readInput(contract, needed));
    });

    test("gives each request defaults of its own", () => {
      const first = readInput(contract, right);
      const before = structuredClone(first);
      for (const value of Object.values(first)) if (Array.isArray(value)) value.push("left over");
      expect(readInput(contract, right)).toEqual(before);
    });
  });
});

describe.each(contracts.filter((contract) => inputSchema(contract).required?.length))("$name", (contract: Contract) => {
  const { required = [] } = inputSchema(contract);
  const right = contract.examples[0]?.input ?? {};

  test.each(required)("names %s when it is missing, or null", (name) => {
    for (const value of [null, undefined])
      expect(refusal({ ...right, [name]: value }, contract).message).toContain(`${name}: `);
  });

  const lists = Object.entries(inputSchema(contract).properties ?? {});
  const inside = lists.flatMap(([list, { items }]) => (items?.required ?? []).map((name) => ({ list, name })));

  test("names what is missing inside an entry of a list", () => {
    for (const { list, name } of inside)
      expect(refusal({ ...right, [list]: [{}] }, contract).message).toContain(`${list}[0].${name}: `);
  });
});

describe("a number", () => {
  test.each([
    [10, 10],
    ["10", 10],
    [10.0, 10],
  ])("is read from %j as %d", (raw, limit) => {
    expect(read({ limit: raw }).limit).toBe(limit);
  });

  test("may be negative and no integer where that is allowed, but a text only for a whole number", () => {
    expect(read({ ratio: -0.5 }).ratio).toBe(-0.5);
    expect(read({ ratio: "-12" }).ratio).toBe(-12);
    expect(refusal({ ratio: "0.5" }).message).toContain("ratio");
  });

  test.each([
    " 10 ",
    "10 ",
    "10px",
    "",
    "1e3",
    "0x10",
    "010",
    "+10",
    "1_0",
    "１０",
    "10.0",
    "1.5",
    1.5,
    true,
    [],
    [10],
    {},
    0,
    51,
  ])("is not read from %j, and the refusal names it", (limit) => {
    expect(refusal({ limit })).toMatchObject({ type: "INVALID_INPUT", message: expect.stringContaining("limit: ") });
  });

  test.each([
    '{"limit": 1e400}',
    '{"limit": -1e400}',
    '{"limit": 9007199254740993}',
    '{"limit": "9007199254740993"}',
    '{"ratio": 1e400}',
  ])("that no double holds exactly is refused: %s", (json) => {
    expect(refusal(JSON.parse(json)).type).toBe("INVALID_INPUT");
  });
});

describe("a truth value", () => {
  test.each([
    ["true", true],
    ["false", false],
    [true, true],
  ])("is read from %j", (raw, flag) => {
    expect(read({ flag: raw }).flag).toBe(flag);
  });

  test.each(["True", "yes", "1", "", 1, 0, []])("is not read from %j", (flag) => {
    expect(refusal({ flag }).message).toContain("flag: ");
  });
});

describe("an object or a list that arrives as JSON text", () => {
  test("is unwrapped once, wherever one is declared", () => {
    const task = { name: "t", tags: ["a"] };
    expect(read({ task: JSON.stringify(task) }).task).toEqual(task);
    expect(read({ task: { name: "t", tags: '["a"]' } }).task).toEqual(task);
    expect(read({ files: '[{"name": "a"}]' }).files).toEqual([{ name: "a" }]);
    expect(read({ files: ['{"name": "a"}'] }).files).toEqual([{ name: "a" }]);
    expect(read(' {"limit": "10"}').limit).toBe(10);
  });

  test("is not unwrapped twice", () => {
    const twice = JSON.stringify(JSON.stringify({ name: "t" }));
    expect(refusal({ task: twice }).message).toContain("task: ");
    expect(refusal(JSON.stringify(JSON.stringify({ limit: 10 }))).type).toBe("INVALID_INPUT");
  });

  test.each(["[1,2]", '{"a": 1}', '"quoted"', "10", "true", "null", "[]", " [1] "])(
    "stays the text %j where a text is declared",
    (json) => {
      expect(read({ content: json }).content).toBe(json);
      expect(read({ paths: [json, "{"] }).paths).toEqual([json, "{"]);
    },
  );

  test("that is broken is refused by the name of its parameter", () => {
    expect(refusal({ files: '[{"name": "a"}' }).message).toContain("files: ");
    expect(refusal({ task: "{'name': 't'}" }).message).toContain("task: ");
  });
});

describe("a parameter that does not exist", () => {
  test.each([
    [{ limitt: 1 }, "limitt: is no parameter; did you mean 'limit'?"],
    [{ Content: "x" }, "Content: is no parameter; did you mean 'content'?"],
    [{ files: [{ nmae: "x" }] }, "files[0].nmae: is no parameter in files[0]; did you mean 'name'?"],
    [{ task: { name: "t", tag: [] } }, "task.tag: is no parameter in task; did you mean 'tags'?"],
    [{ task: '{"name": "t", "tag": []}' }, "task.tag: is no parameter in task; did you mean 'tags'?"],
  ])("is refused by name with the nearest one: %j", (raw, message) => {
    const { type, message: said, particulars } = refusal(raw);
    expect({ type, said }).toEqual({ type: "INVALID_INPUT", said: message });
    for (const name of Object.keys(everything.input.shape)) expect(particulars.hint).toContain(name);
  });

  test("is refused with each other fault, ten of them at most", () => {
    const { message } = refusal({ limitt: 1, name: " x" });
    expect(message).toMatch(/limitt: .*; name: /);
    const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`unknown${index}`, 1]));
    expect(refusal(many).particulars.details?.issues).toHaveLength(10);
  });
});

describe("a name", () => {
  test("is compared in NFC: the same name in another composition is the same project", async () => {
    const [composed, decomposed] = ["caf\u00e9 é", "cafe\u0301 e\u0301"];
    await tool("register_project", { user_name: "alice", project_name: decomposed, description: "Coffee" });
    const { body } = await tool("get_project", { user_name: "alice", project_name: composed });
    expect(body).toMatchObject({ project_name: composed, description: "Coffee" });
    const again = await tool("register_project", { user_name: "alice", project_name: composed });
    expect(again.body.created).toBe(false);
  });

  test("in full width, or in another case, is another name", async () => {
    await tool("register_project", { user_name: "alice", project_name: "工程师1", description: "half" });
    for (const project_name of ["工程师１", "工程师1a"]) {
      expect((await tool("get_project", { user_name: "alice", project_name })).status).toBe(404);
    }
    await tool("register_project", { user_name: "alice", project_name: "Website" });
    expect((await tool("get_project", { user_name: "alice", project_name: "website" })).status).toBe(404);
  });

  test.each(["null", "NULL", "None", "undefined", "unknown", "Unknown"])("is not the placeholder %s", async (word) => {
    expect(refusal({ name: word }).message).toBe(
      `name: is the placeholder '${word}'; leave the parameter out or give the real value`,
    );
    for (const input of [{ session_id: word, agent_name: "a" }, { agent_name: "a", ack: [word] }, { agent_name: word }])
      expect((await tool("receive_messages", input)).body.code).toBeOneOf([400, 404]);
    expect((await tool("register_agent", { agent_name: word, role: "member" })).body).toMatchObject({
      code: 400,
      error: { message: expect.stringContaining("placeholder") },
    });
  });

  test("is measured in code points, as its schema says, and not in halves of them", () => {
    expect(read({ name: "😀".repeat(200) }).name).toHaveLength(400);
    expect(refusal({ name: "😀".repeat(201) }).message).toMatch(/^name: Too big/);
  });

  test("may hold such a word, and a text may be one", () => {
    expect(read({ name: "the unknown", content: "null" })).toMatchObject({ name: "the unknown", content: "null" });
  });
});

describe("a text", () => {
  const emoji = "👩‍👩‍👧‍👦 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301 \u200b\ufeff\u0000\r\n\t 𠮷";

  test("arrives as it was sent, each code point of it", async () => {
    const { call, receive, register } = acts(tool);
    const [sender, receiver] = [await register("a"), await register("b")];
    expect((await call({ session_id: "s", sender, receiver, content: emoji })).status).toBe(202);
    expect((await receive(receiver)).body.messages[0]?.content).toBe(emoji);
  });

  test("with half of a character is refused, and says where", () => {
    expect(refusal({ content: "a\ud83d" }).message).toMatch(/^content: holds half of a character/);
    expect(refusal({ files: [{ name: "x" }, { demand: "\udc00" }] }).message).toMatch(/^files\[1\]\.demand: /);
    expect(refusal({ "\ud800": 1 }).message.isWellFormed()).toBe(true);
  });
});

describe("JSON that was cut", () => {
  const whole =
    '{"session_id": "s", "files": [{"name": "a\\u00e9\\n"}], "deadline_s": -1.5e+3, "flags": [true, null], "content": "x"}';
  const errorOf = (body: string) => {
    try {
      return readJson(parseEvent(gatewayEvent({ body })));
    } catch (error) {
      return error;
    }
  };

  test("anywhere is not called a missing field, and nothing of it is run", () => {
    for (let length = 1; length < whole.length; length++) {
      const said = { type: "INVALID_JSON", message: "The JSON ends in the middle: it was cut, and nothing was done." };
      expect(errorOf(whole.slice(0, length)), whole.slice(0, length)).toMatchObject(said);
    }
    expect(errorOf(whole)).toEqual(JSON.parse(whole));
  });

  test.each(["{'a': 1}", '{"a": 1,}', '{"a": 1}}', "nul ", "[1 2]", '{"a": "\n"}', "<xml/>", "a=1"])(
    "is told from JSON that is wrong: %j",
    (body) => {
      expect(errorOf(body)).toMatchObject({ type: "INVALID_JSON", message: "The body is not JSON in UTF-8." });
    },
  );

  test("is told from no arguments", async () => {
    expect(errorOf("")).toBeUndefined();
    expect((await tool("call_agent", {})).body.error?.message).toMatch(/^session_id: /);
  });
});
