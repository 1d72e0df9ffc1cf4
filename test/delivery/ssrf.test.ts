import type { LookupAddress, LookupAllOptions } from "node:dns";
import { once } from "node:events";
import { connect, type LookupFunction } from "node:net";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { acts, unique } from "../acts.ts";
import { startTestSystem } from "../system.ts";
import { tableItems } from "../table_items.ts";

/* Webhooks reach public addresses only: at registration, and again when a connection is made. */

/** What names resolve to, one answer after another; the last one stays. */
const answers = new Map<string, string[][]>();
const asked: string[] = [];

function faked(hostname: string): LookupAddress[] | undefined {
  const found = answers.get(hostname);
  if (found === undefined) return undefined;
  asked.push(hostname);
  const addresses = found.length > 1 ? found.shift() : found[0];
  return addresses?.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

type Callback = (error: Error | null, found: LookupAddress[]) => void;

vi.mock("node:dns", async (original) => {
  const dns = await original<typeof import("node:dns")>();
  const lookup = (hostname: string, options: LookupAllOptions, callback: Callback) => {
    const found = faked(hostname);
    if (found === undefined) return dns.lookup(hostname, options, callback);
    queueMicrotask(() => callback(null, found));
  };
  return { ...dns, lookup };
});
vi.mock("node:dns/promises", async (original) => {
  const dns = await original<typeof import("node:dns/promises")>();
  const lookup = async (hostname: string, options: LookupAllOptions) =>
    faked(hostname) ?? dns.lookup(hostname, options);
  return { ...dns, lookup };
});

const system = await startTestSystem({ WEBHOOK_TARGETS: "public" });
afterAll(() => system.stop());
const { tool } = system;
const { call, register } = acts(tool);
const { checkedLookup } = await import("../../functions/_delivery/targets.ts");

/** Of example.com. Nothing is sent there: there is no delivery to it in this file. */
const publicAddress = "93.184.216.34";
beforeEach(() => {
  answers.clear();
  asked.length = 0;
});

const registerAt = (webhook_url: string) =>
  tool("register_agent", { agent_name: unique("writer"), role: "member", delivery: "webhook", webhook_url });

describe("registration refuses", () => {
  const notPublic = "The webhook's host has an address that is not public.";
  test.each([
    ["http://hooks.example.com/a", "A webhook URL begins with https://."],
    ["ftp://hooks.example.com/a", "A webhook URL begins with https://."],
    ["file:///etc/passwd", "A webhook URL begins with https://."],
    ["javascript:alert(1)", "A webhook URL begins with https://."],
    ["hooks.example.com", "A webhook URL begins with https://."],
    ["https://", "A webhook URL begins with https://."],
    ["https://hooks.example.com:8443/a", "A webhook URL uses port 443."],
    ["https://hooks.example.com:80/", "A webhook URL uses port 443."],
    ["https://user:pass@hooks.example.com/", "A webhook URL carries no user name or password."],
    ["https://token@hooks.example.com/", "A webhook URL carries no user name or password."],
    ["https://10.0.0.1/", notPublic],
    ["https://172.16.0.1/", notPublic],
    ["https://192.168.1.1/", notPublic],
    ["https://127.0.0.1/", notPublic],
    ["https://127.1/", notPublic],
    ["https://127.0.0.1./", notPublic],
    ["https://0.0.0.0/", notPublic],
    ["https://0/", notPublic],
    ["https://169.254.169.254/latest/meta-data/", notPublic],
    ["https://100.64.0.1/", notPublic],
    ["https://224.0.0.1/", notPublic],
    ["https://255.255.255.255/", notPublic],
    ["https://240.0.0.1/", notPublic],
    ["https://198.18.0.1/", notPublic],
    ["https://192.0.2.1/", notPublic],
    ["https://2130706433/", notPublic],
    ["https://0x7f000001/", notPublic],
    ["https://0x7f.0.0.1/", notPublic],
    ["https://0177.0.0.1/", notPublic],
    ["https://１２７.0.0.1/", notPublic],
    ["https://[::1]/", notPublic],
    ["https://[::]/", notPublic],
    ["https://[::ffff:127.0.0.1]/", notPublic],
    ["https://[::ffff:10.0.0.1]/", notPublic],
    ["https://[::127.0.0.1]/", notPublic],
    ["https://[::ffff:0:127.0.0.1]/", notPublic],
    ["https://[64:ff9b::10.0.0.1]/", notPublic],
    ["https://[2002:7f00:1::]/", notPublic],
    ["https://[2001:0:7f00:1::]/", notPublic],
    ["https://[fe80::1]/", notPublic],
    ["https://[fd00:ec2::254]/", notPublic],
    ["https://[fec0::1]/", notPublic],
    ["https://[ff02::1]/", notPublic],
    ["https://[2001:db8::1]/", notPublic],
    ["https://[4000::1]/", notPublic],
    ["https://localhost/", notPublic],
    ["https://LOCALHOST/", notPublic],
    ["https://no-such-host.invalid/", "The webhook's host name does not resolve."],
  ])("%s", async (webhook_url, reason) => {
    const before = await tableItems();
    expect(await registerAt(webhook_url)).toMatchObject({
      status: 400,
      body: { code: 400, msg: reason, webhook_secret: "", error: { type: "WEBHOOK_REFUSED", message: reason } },
    });
    expect(await tableItems()).toEqual(before);
  });

  test.each([
    ["a private address", ["10.1.2.3"]],
    ["a private address beside a public one", [publicAddress, "10.1.2.3"]],
    ["a public address beside an IPv6 one that is local", [publicAddress, "fd00::1"]],
    ["the address of the metadata service", ["169.254.169.254"]],
    ["an IPv4 address inside IPv6", ["::ffff:127.0.0.1"]],
    ["no address", []],
  ])("a name that resolves to %s", async (_, addresses) => {
    answers.set("hooks.example.com", [addresses]);
    expect(await registerAt("https://hooks.example.com/a")).toMatchObject({ status: 400, body: { msg: notPublic } });
    expect(asked).toEqual(["hooks.example.com"]);
  });
});

test.each(["https://hooks.example.com/a?b=c", "https://hooks.example.com:443/", "HTTPS://HOOKS.EXAMPLE.COM"])(
  "registration takes %s when its name is public",
  async (webhook_url) => {
    answers.set("hooks.example.com", [[publicAddress, "2606:2800:220:1:248:1893:25c8:1946"]]);
    expect(await registerAt(webhook_url)).toMatchObject({ status: 200, body: { webhook_url, created: true } });
  },
);

test("a name that turns private after registration fails the call, and nothing is sent", async () => {
  answers.set("hooks.example.com", [[publicAddress], ["127.0.0.1"]]);
  const { body } = await registerAt("https://hooks.example.com/a");
  const sender = await register("asker");

  const answer = await call({ session_id: unique("s"), sender, receiver: body.agent_name }, 20);

  const reason = "The webhook's host has an address that is not public.";
  expect(answer).toMatchObject({ status: 502, body: { msg: reason, error: { type: "CALL_FAILED" } } });
  const found = await tool("get_call", { call_id: answer.body.call_id, agent_name: sender });
  expect(found.body.attempts).toMatchObject([{ number: 1, outcome: reason, http_status: 0 }]);
  expect(asked).toEqual(["hooks.example.com", "hooks.example.com"]);
  expect(JSON.stringify(found.body)).not.toContain("127.0.0.1");
});

describe("a connection", () => {
  const connectTo = (host: string) => connect({ host, port: 443, lookup: checkedLookup as LookupFunction });

  test("is made to the address that was checked, which is looked up once", async () => {
    answers.set("hooks.example.com", [[publicAddress], ["127.0.0.1"]]);
    const socket = connectTo("hooks.example.com");
    socket.on("error", () => {});
    const [address, port] = await once(socket, "connectionAttempt");
    socket.destroy();
    expect([address, port]).toEqual([publicAddress, 443]);
    expect(asked).toEqual(["hooks.example.com"]);
  });

  test.each([
    ["is private", ["127.0.0.1"]],
    ["is private beside a public one", [publicAddress, "192.168.0.1"]],
    ["is missing", []],
  ])("is not made when an address %s", async (_, addresses) => {
    answers.set("hooks.example.com", [addresses]);
    const socket = connectTo("hooks.example.com");
    const attempted = vi.fn();
    socket.on("connectionAttempt", attempted);
    const [error] = await once(socket, "error").catch((thrown) => [thrown]);
    expect(error).toMatchObject({ name: "TargetRefused" });
    expect(attempted).not.toHaveBeenCalled();
  });
});
