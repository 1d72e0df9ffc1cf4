import { describe, expect, test } from "vitest";
import { UsageError } from "../../infra/arguments.ts";
import { readCommand } from "../../infra/key_options.ts";

const now = Date.parse("2027-01-01T00:00:00Z");
const grants = ["--scopes", "agent:read", "--agents", "writer"];

describe("a command line", () => {
  test("is read with its defaults", () => {
    expect(readCommand(["create", ...grants], now)).toEqual({
      name: "create",
      workspace: "local",
      id: undefined,
      stage: undefined,
      port: undefined,
      scopes: ["agent:read"],
      agents: ["writer"],
      repositories: [],
      actor: "operator",
      expires_at: undefined,
      rate_per_minute: undefined,
    });
  });

  test("may list scopes and agents with spaces behind the commas", () => {
    const command = readCommand(["create", "--scopes", "agent:read, agent:call", "--agents", "writer, Coder"], now);
    expect(command).toMatchObject({ scopes: ["agent:read", "agent:call"], agents: ["writer", "Coder"] });
  });

  test("names the repositories that the key may read", () => {
    const command = readCommand(["create", ...grants, "--repositories", "order-service, web.app"], now);
    expect(command).toMatchObject({ repositories: ["order-service", "web.app"] });
  });

  test.each([
    ["90m", "2027-01-01T01:30:00Z"],
    ["12h", "2027-01-01T12:00:00Z"],
    ["30d", "2027-01-31T00:00:00Z"],
    ["2027-02-01", "2027-02-01T00:00:00Z"],
    ["2027-02-01T08:00+08:00", "2027-02-01T00:00:00Z"],
  ])("ends the key at the instant that --expires %s means", (expires, instant) => {
    const command = readCommand(["create", ...grants, "--expires", expires], now);
    expect(command).toMatchObject({ expires_at: Date.parse(instant) });
  });

  test("asks for help", () => {
    expect(readCommand(["--help"], now)).toBeUndefined();
  });

  test.each([
    [[], "Say what to do."],
    [["creat"], 'There is no command "creat". Did you mean create?'],
    [["create", "--agents", "*"], "create needs --scopes"],
    [["create", "--scopes", "all"], "create needs --agents"],
    [["create", "--scopes", "agent:cal", "--agents", "*"], 'no permission "agent:cal". Did you mean agent:call?'],
    [["create", "--scopes", "agent:call,", "--agents", "*"], 'no permission ""'],
    [["create", ...grants, "--agents", "1abc"], `"1abc" can't be an agent's name`],
    [["create", ...grants, "--repositories", "../x"], `"../x" can't be a repository's name`],
    [["create", ...grants, "--id", "A-b"], "--id must be"],
    [["create", ...grants, "--workspace", "a#b"], "--workspace must be"],
    [["create", ...grants, "--rate", "0"], "--rate must be"],
    [["create", ...grants, "--rate", "5x"], "--rate must be"],
    [["create", ...grants, "--expires", "soon"], "--expires must be like"],
    [["create", ...grants, "--expires", "2099-01-01T00:00"], "--expires must be like"],
    [["create", ...grants, "--expires", "2020-01-01"], "is not in the future"],
    [["create", ...grants, "--expires", "0d"], "is not in the future"],
    [["create", ...grants, "--actor", "a\nb"], "--actor must be one line"],
    [["create", ...grants, "package.json"], '"package.json" is too much'],
    [["create", ...grants, "--scope", "x"], "--scope"],
    [["rotate"], "rotate needs --id"],
    [["revoke", "--id", "x", "--rate", "5"], "--rate means nothing to revoke"],
    [["list", "--port", "abc"], "--port must be a number"],
  ])("%j is refused with a reason", (args, reason) => {
    const read = () => readCommand(args, now);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(reason);
  });
});
