import { describe, expect, test } from "vitest";
import { criticalPath } from "./critical_path.ts";
import { type Entry, pack, unpack, withoutWaiting } from "./operations.ts";
import { summary } from "./statistics.ts";

/** An operation of `by` on the record `key`. */
const operation = (by: string, command: string, key: string): Entry => ({
  by,
  service: "dynamodb",
  command,
  input: { Key: key },
  readUnits: command === "GetItem" ? 1 : 0,
  writeUnits: command === "GetItem" ? 0 : 1,
  items: 0,
  refused: false,
  startedAt: 0,
  endedAt: 0,
});

describe("without waiting", () => {
  const look = () => operation("call_agent", "GetItem", "head");

  test("of the looks at one record the last is left, whatever others do meanwhile", () => {
    const write = operation("deliver", "UpdateItem", "item");
    const found = look();
    expect(withoutWaiting([look(), write, look(), found])).toEqual([write, found]);
  });

  test("what is read again after a write of one's own is no waiting", () => {
    const entries = [look(), operation("call_agent", "UpdateItem", "item"), look()];
    expect(withoutWaiting(entries)).toEqual(entries);
  });

  test("two requests that read the same do not wait for each other", () => {
    const entries = [operation("request 1", "GetItem", "key"), operation("request 2", "GetItem", "key")];
    expect(withoutWaiting(entries)).toEqual(entries);
  });
});

test("sets survive the way between processes", () => {
  const entry = { ...operation("deliver", "UpdateItem", "profile"), input: { values: { ":slot": new Set(["1"]) } } };
  expect(unpack(pack([entry]))).toEqual([entry]);
});

test("the critical path is the chain that took longest, without what ran beside it or after its end", () => {
  const interval = (startedAt: number, endedAt: number) => ({ startedAt, endedAt });
  const [key, short, long, write, after] = [
    interval(0, 2),
    interval(2, 3),
    interval(2, 6),
    interval(6, 9),
    interval(9, 30),
  ];
  expect([...criticalPath([key, short, long, write, after], write)].toReversed()).toEqual([key, long, write]);
});

test("a summary gives the middle, the tail and the spread", () => {
  const times = Array.from({ length: 101 }, (_, n) => n).toReversed();
  expect(summary(times)).toEqual({ n: 101, p50: 50, p99: 99, iqr: 50 });
});
