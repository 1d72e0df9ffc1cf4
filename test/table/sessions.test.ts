import { afterAll, describe, expect, test } from "vitest";
import { unique } from "../acts.ts";
import { noFunctions, startTestSystem } from "../system.ts";

const system = await startTestSystem({}, noFunctions);
afterAll(() => system.stop());
const { reserveCall, readSession } = await import("../../functions/_table/sessions.ts");
const { session: keyOf } = await import("../../functions/_table/keys.ts");
const { put } = await import("../../functions/_table/table.ts");
const { formatEdge } = await import("../../functions/_table/wait_edges.ts");

/** A session in which `hub` waits for that many agents. */
async function sessionWithHub(count: number, until = Date.now() + 20_000): Promise<string> {
  const sessionId = unique("s");
  const edges = Array.from({ length: count }, (_, index) =>
    formatEdge({ receiver: `agent${index}-${"x".repeat(50)}`, until, random: "0123456789ab" }),
  );
  const item = {
    ...keyOf("test", sessionId),
    session_id: sessionId,
    user_name: "alice",
    seq: 7,
    w_hub: new Set(edges),
  };
  await put({ Item: item });
  return sessionId;
}

async function reserve(sessionId: string, sender: string, receiver: string) {
  const edge = { receiver, until: Date.now() + 20_000, random: "ba9876543210" };
  const reservation = { workspace: "test", sessionId, userName: "alice", sender, receiver, edge };
  return reserveCall(reservation, await readSession("test", sessionId));
}

describe("a call to an agent that waits for many others", () => {
  test("is accepted as long as DynamoDB can guard them all", async () => {
    const sessionId = await sessionWithHub(99);
    expect(await reserve(sessionId, "caller", "hub")).toMatchObject({ seq: 8 });
    expect((await readSession("test", sessionId))?.waits.get("hub")?.size).toBe(99);
  });

  test("is told to come again, or not to wait, when they are more", async () => {
    const sessionId = await sessionWithHub(100);
    await expect(reserve(sessionId, "caller", "hub")).rejects.toMatchObject({
      type: "SESSION_BUSY",
      retryable: true,
      particulars: { retryAfterS: 30, hint: expect.stringContaining("respond-async") },
    });
    expect((await readSession("test", sessionId))?.seq).toBe(7);
  });

  test("finds the ring first", async () => {
    const sessionId = await sessionWithHub(200);
    const sender = `agent7-${"x".repeat(50)}`;
    await expect(reserve(sessionId, sender, "hub")).rejects.toMatchObject({ type: "CALL_CYCLE" });
  });

  test("that are over by the clock tidies them up", async () => {
    const sessionId = await sessionWithHub(100, Date.now() - 1);
    expect(await reserve(sessionId, "caller", "hub")).toMatchObject({ seq: 8 });
    expect([...((await readSession("test", sessionId))?.waits.keys() ?? [])]).toEqual(["caller"]);
  });
});
