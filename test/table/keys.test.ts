import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as keys from "../../functions/_table/keys.ts";

/* The exact strings: data that is stored must be found again by the next version. */

const call: keys.Id = { kind: "call", at: keys.sessionDigest("s-1"), place: "0000000001_0123456789ab" };
const task: keys.Id = { kind: "task", at: keys.projectDigest("alice", "官网"), place: "1800000000000_000123456789" };
const asg: keys.Id = { ...task, kind: "asg" };
const note: keys.Id = { ...call, kind: "note" };

describe("the key of", () => {
  test.each([
    ["an API key", keys.apiKey("acme", "k1"), "KEY#acme#k1", "KEY"],
    ["an API key's uses in a minute", keys.apiKeyRate("acme", "k1", 30_000_000), "KEY#acme#k1", "RATE#30000000"],
    ["an agent", keys.agentProfile("acme", "Writer_1"), "WS#acme#AGENT#writer_1", "PROFILE"],
    ["a session", keys.session("acme", "s-1"), "WS#acme#AT#8XJNkiE1ghvclrhNi-MQhC", "SESSION"],
    ["a project", keys.project("acme", "alice", "官网"), "WS#acme#AT#l8liCJ-EfVZbmlMfncFC17", "PROJECT"],
    ["a call", keys.record("acme", call), `WS#acme#AT#${call.at}`, "MSG#0000000001_0123456789ab"],
    ["a note", keys.record("acme", note), `WS#acme#AT#${call.at}`, "MSG#0000000001_0123456789ab"],
    ["a task", keys.record("acme", task), `WS#acme#AT#${task.at}`, "TASK#1800000000000_000123456789"],
    ["an assignment", keys.record("acme", asg), `WS#acme#AT#${task.at}`, "ASSIGNMENT#1800000000000_000123456789"],
    ["a body", keys.text("acme", call, "BODY"), `WS#acme#AT#${call.at}`, "TEXT#call#0000000001_0123456789ab#BODY"],
    [
      "a reply",
      keys.text("acme", task, "REPLY#x"),
      `WS#acme#AT#${task.at}`,
      "TEXT#task#1800000000000_000123456789#REPLY#x",
    ],
    [
      "an inbox item",
      keys.inboxItem("acme", "Writer", call.at, 7),
      "WS#acme#AGENT#writer",
      `INBOX#${call.at}#0000000007`,
    ],
    ["a schedule", keys.schedule("acme", "sch_1"), "WS#acme#SCHEDULES", "SCHEDULE#sch_1"],
    ["what a schedule assigns", keys.scheduleInput("acme", "sch_1"), "WS#acme#SCHEDULE#sch_1", "INPUT"],
    ["an approval", keys.approval("acme", "apr_1"), "WS#acme#APPROVALS", "APPROVAL#apr_1"],
    [
      "an audit event",
      keys.auditEvent("acme", "2026-11-30T18:00:00.000Z", "r#1"),
      "AUDIT#acme#2026-11-30T18",
      "2026-11-30T18:00:00.000Z#r%231",
    ],
    ["a repository", keys.repository("acme", "Order.service"), "WS#acme#REPOSITORIES", "REPOSITORY#Order.service"],
    [
      "an idempotency record",
      keys.idempotency("acme", "k1", "call_agent", "Writer", "3f#%"),
      "WS#acme#IDEMPOTENCY#k1#call_agent#writer#3f%23%25",
      "IDEMPOTENCY",
    ],
  ])("%s", (_, key, PK, SK) => {
    expect(key).toEqual({ PK, SK });
  });

  test.each([
    ["a workspace's API keys", keys.apiKeysIndex("acme"), "KEYS#acme"],
    ["a workspace's agents", keys.agentsIndex("acme"), "WS#acme#AGENTS"],
    ["a workspace's todos", keys.todosIndex("acme"), "WS#acme#TODOS"],
    ["an agent's todo", keys.todosIndexSort("Writer", "call_1"), "writer#call_1"],
    ["what is due in a shard", keys.dueIndex(3), "DUE#3"],
    ["when it is due", keys.dueSort(1_800_000_000_000, call), `2027-01-15T08:00:00.000Z#${keys.formatId(call)}`],
    ["the schedules that are due", keys.dueSchedulesIndex, "DUE#SCHEDULES"],
    [
      "when a schedule is due",
      keys.dueRecordSort(1_800_000_000_000, "acme", "sch_1"),
      "2027-01-15T08:00:00.000Z#acme#sch_1",
    ],
    ["a schedule's id", keys.scheduleId(1_800_000_000_000, "0123456789ab"), "sch_1800000000000_0123456789ab"],
    ["a schedule's trigger", keys.triggerName("acme", "sch_1"), "sb-qJSVvQ3xJZPRu3d5JHwjVd"],
    ["a group in the inbox", keys.groupPrefix("abc"), "INBOX#abc#"],
    ["an SQS message group", keys.messageGroup("acme", "Writer", "abc"), "P6kzGm-V4ZOXEx141pSaig"],
  ])("%s in an index or a query is pinned", (_, key, expected) => {
    expect(key).toBe(expected);
  });
});

/** Pieces that keys are made of, so that a name could look like the rest of one. */
const piece = fc.constantFrom(
  "#",
  "%",
  "%23",
  "%25",
  "23",
  "a",
  "A",
  "k",
  "\u212a",
  "é",
  "AGENT",
  "PROFILE",
  "INBOX",
  "-",
);
const name = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
const workspace = fc.constantFrom("a", "b", "a1");

/** Every kind of record that is found by what a caller writes, with what makes two of them the same. */
const found = fc.oneof(
  fc.tuple(workspace, name).map(([ws, agent]) => [keys.agentProfile(ws, agent), ["agent", ws, keys.fold(agent)]]),
  fc
    .tuple(workspace, name, fc.nat(20))
    .map(([ws, agent, seq]) => [
      keys.inboxItem(ws, agent, keys.sessionDigest("s"), seq),
      ["item", ws, keys.fold(agent), seq],
    ]),
  fc.tuple(workspace, name).map(([ws, id]) => [keys.session(ws, id), ["session", ws, id]]),
  fc
    .tuple(workspace, name, name)
    .map(([ws, user, title]) => [keys.project(ws, user, title), ["project", ws, user, title]]),
  fc
    .tuple(workspace, name, name)
    .map(([ws, speaker, key]) => [
      keys.idempotency(ws, "k", "call_agent", speaker, key),
      ["repeat", ws, keys.fold(speaker), key],
    ]),
) as fc.Arbitrary<[keys.Key, unknown[]]>;

describe("no name can make", () => {
  test("one record's key another's: keys are the same exactly when what they stand for is", () => {
    fc.assert(
      fc.property(found, found, ([one, isOne], [other, isOther]) => {
        const same = JSON.stringify(isOne) === JSON.stringify(isOther);
        expect(one.PK === other.PK && one.SK === other.SK).toBe(same);
      }),
      { numRuns: 5_000 },
    );
  });

  test("a key leave its workspace", () => {
    fc.assert(
      fc.property(found, ([{ PK }, [, ws]]) => {
        expect(PK.startsWith(`WS#${ws}#`)).toBe(true);
        expect(keys.workspaceOf(PK)).toBe(ws);
      }),
    );
  });

  test("a key larger than DynamoDB takes", () => {
    const [agent, clientKey, id] = ["中".repeat(200), "#".repeat(255), "a".repeat(64)];
    const largest = [
      keys.idempotency(id, id, "get_agent_status_", "#".repeat(200), clientKey),
      keys.idempotency(id, id, "get_agent_status_", agent, clientKey),
      keys.inboxItem(id, agent, keys.sessionDigest(agent), 9_999_999_999),
      keys.session(id, agent),
      keys.text(id, call, "LATE#2027-01-15T08:00:00.000Z#0123456789ab"),
    ];
    for (const { PK, SK } of largest) {
      expect(Buffer.byteLength(PK)).toBeLessThanOrEqual(2_048);
      expect(Buffer.byteLength(SK)).toBeLessThanOrEqual(1_024);
    }
  });

  test("an SQS group that SQS refuses, nor two groups one", () => {
    fc.assert(
      fc.property(name, name, ([...one], [...other]) => {
        const groups = [one.join(""), other.join("")].map((agent) => keys.messageGroup("a", agent, "s"));
        for (const group of groups) expect(group).toMatch(/^[!-~]{1,128}$/);
        expect(groups[0] === groups[1]).toBe(keys.fold(one.join("")) === keys.fold(other.join("")));
      }),
    );
  });
});

describe("folding", () => {
  test("makes one of the cases of ASCII letters and of nothing else", () => {
    expect(keys.fold("Writer_1-X")).toBe("writer_1-x");
    for (const alike of ["\u212ait", "kıt", "kİt", "ＫＩＴ", "ſit"]) expect(keys.fold(alike)).toBe(alike);
  });
});

describe("an id", () => {
  test.each([call, task, asg, note])("is read back as it was written: %j", (id) => {
    expect(keys.parseId(keys.formatId(id))).toEqual(id);
  });

  test("is read back for every session, number and instant", () => {
    const random = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(name, fc.nat(4_000_000_000), random, (session, seq, part) => {
        const id = { kind: "call", at: keys.sessionDigest(session), place: keys.sequencePlace(seq, part) } as const;
        expect(keys.parseId(keys.formatId(id))).toEqual(id);
      }),
    );
    fc.assert(
      fc.property(
        name,
        fc.date({ min: new Date(0), noInvalidDate: true }),
        fc.nat(39),
        random,
        (title, at, index, part) => {
          fc.pre(at.getTime() < 1e13);
          const place = keys.timePlace(at.getTime(), index, part);
          const id = { kind: "task", at: keys.projectDigest("u", title), place } as const;
          expect(keys.parseId(keys.formatId(id))).toEqual(id);
        },
      ),
    );
  });

  test.each([
    "",
    "null",
    "call",
    keys.formatId(call).replace("call", "chat"),
    keys.formatId(call).toUpperCase(),
    `${keys.formatId(call)} `,
    `${keys.formatId(call)}\n`,
    keys.formatId(call).replace("0123456789ab", "0123456789ab#BODY"),
    keys.formatId(call).replace("0000000001", "000000000１"),
    `call_${"#".repeat(22)}_0000000001_0123456789ab`,
    "constructor",
    "__proto__",
  ])("is none in %j", (text) => {
    expect(keys.parseId(text)).toBeUndefined();
  });

  test("sorts as text in the order in which the messages came", () => {
    const inOrder = (texts: string[]) => expect([...texts].sort()).toEqual(texts);
    inOrder([1, 2, 9, 10, 99, 1_000_000_000].map((seq) => keys.sequencePlace(seq, "ab")));
    inOrder([1, 2, 9, 10, 99].map((seq) => keys.inboxItem("a", "b", "s", seq).SK));
    inOrder([999_999_999_999, 1_800_000_000_000, 9_999_999_999_999].map((at) => keys.timePlace(at, 0, "0123456789ab")));
    inOrder([0, 1, 9, 10, 39].map((index) => keys.timePlace(1_800_000_000_000, index, "0123456789ab")));
    inOrder([0, 999, 1_800_000_000_000].map((at) => keys.dueSort(at, call)));
  });

  test("is due in one of the shards that sweep looks at, and always in the same", () => {
    const shards = Array.from({ length: 1_000 }, (_, seq) =>
      keys.dueShardOf({ ...call, place: keys.sequencePlace(seq, "0123456789ab") }),
    );
    expect(new Set(shards)).toEqual(new Set(Array.from({ length: keys.dueShards }, (_, shard) => shard)));
    expect(keys.dueShardOf(call)).toBe(3);
  });
});
