import { request } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import type { Contract } from "../../functions/_runtime/contract.ts";
import { contracts } from "../../functions/tools.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";
import { expectRefusal, type RawAnswer } from "./wire.ts";

/* What comes over the wire in bytes and headers that a JSON client would not send. */

const system = await startTestSystem();
afterAll(() => system.stop());

type Headers = Record<string, string>;

async function post(tool: string, body: string | Buffer | undefined, headers: Headers = {}): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const authorization = `Bearer ${system.key}`;
  const options = { method: "POST", headers: { authorization, ...headers }, agent: false };
  const sent = request(`${system.url}/v1/tools/${tool}`, options, async (response) => {
    const { statusCode = 0, headers } = response;
    resolve({ status: statusCode, headers: headers as Headers, body: (await json(response)) as RawAnswer["body"] });
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

const asJson = { "content-type": "application/json" };
/** The gateway takes none of these for text, so the function gets the bytes in base64. */
const binaryTypes: Headers[] = [
  {},
  { "content-type": "application/octet-stream" },
  { "content-type": "application/x-www-form-urlencoded" },
  { "content-type": "multipart/form-data; boundary=x" },
];

describe.each(contracts)("$name refuses, and writes nothing for", (contract: Contract) => {
  const { name, examples } = contract;
  const right = JSON.stringify(examples[0]?.input);

  test("bytes that are no text, text that is no JSON, and JSON in another encoding", async () => {
    const before = await tableItems();
    const bodies = [
      Buffer.from([0xff, 0xfe, 0x00, 0x80]),
      Buffer.from(right.replace(/}$/, "\u00ff}"), "latin1"),
      Buffer.from([...Buffer.from('{"a":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
      Buffer.from(right, "utf16le"),
      Buffer.from("agent_name=writer&user_name=alice"),
      Buffer.from(Buffer.from(right).toString("base64")),
      Buffer.from('--x\r\ncontent-disposition: form-data; name="agent_name"\r\n\r\nwriter\r\n--x--'),
    ];
    for (const [index, body] of bodies.entries()) {
      const answer = await post(name, body, binaryTypes[index % binaryTypes.length]);
      expectRefusal(contract, answer, `${name}: ${body.toString("latin1").slice(0, 60)}`);
      expect(answer.body.error).toMatchObject({ type: "INVALID_JSON" });
    }
    expect(await tableItems()).toEqual(before);
  });

  test("2 MB of arguments", async () => {
    const before = await tableItems();
    const answer = await post(name, JSON.stringify({ content: "a".repeat(2 * 1024 * 1024) }), asJson);
    expectRefusal(contract, answer, name);
    expect(answer).toMatchObject({ status: 413, body: { error: { type: "REQUEST_TOO_LARGE" } } });
    expect(await tableItems()).toEqual(before);
  });
});

const needy = contracts.filter(({ input }: Contract) => !input.safeParse({}).success);

test.each(needy)("$name refuses no body at all, and an empty one", async (contract: Contract) => {
  const { name } = contract;
  const before = await tableItems();
  for (const headers of [asJson, ...binaryTypes]) {
    const answer = await post(name, undefined, headers);
    expectRefusal(contract, answer, name);
    // What is missing is named: nobody is told that the JSON was cut.
    expect(answer.body.error).toMatchObject({ type: "INVALID_INPUT" });
  }
  expect(await tableItems()).toEqual(before);
});

test("11 MB of arguments are refused by the gateway before any tool sees them", async () => {
  const { status, body } = await post("call_agent", Buffer.alloc(11 * 1024 * 1024, "a"), asJson);
  expect({ status, body }).toEqual({ status: 413, body: { message: "Request Too Long" } });
});

describe("headers", () => {
  const get = (headers: Headers) => post("list_agents", "{}", { ...asJson, ...headers });

  test.each([
    ["wait=-1"],
    ["wait=1e3"],
    ["wait"],
    ["wait="],
    ["=5"],
    [";;;,,,"],
    ["wait=NaN, \u00ff"],
    ["x".repeat(8_000)],
    ['wait="5'],
    ["return=minimal"],
  ])("that prefer nonsense (%s) are ignored", async (prefer) => {
    const { status, headers } = await get({ prefer });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty("preference-applied");
  });

  test("that no function reads change nothing, whatever they say", async () => {
    const invented = {
      "x-agent-id": "coach",
      "x-workspace": "other",
      "x-amzn-requestid": "\u00e9",
      "x-forwarded-for": "1.1.1.1, 2.2.2.2",
      "content-encoding": "gzip",
      "content-language": "zh-CN",
      constructor: "a",
      ["__proto__"]: "b",
      cookie: "session=1",
    };
    expect((await get(invented)).status).toBe(200);
  });

  test("larger than the server reads are refused with a 4xx", async () => {
    const response = await fetch(`${system.url}/v1/tools/list_agents`, { headers: { "x-large": "x".repeat(20_000) } });
    expect(response.status).toBe(431);
    await response.body?.cancel();
  });
});
