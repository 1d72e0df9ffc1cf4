import { fold } from "./keys.ts";

/** Wait edges of a session as they are stored, by waiting agent. */
export type WaitEdges = ReadonlyMap<string, ReadonlySet<string>>;

/** One wait: until when (ms), for whom, and a random part that keeps parallel waits apart. */
export interface WaitEdge {
  receiver: string;
  until: number;
  random: string;
}

export const formatEdge = ({ receiver, until, random }: WaitEdge) => `${until}#${fold(receiver)}#${random}`;
export const edgeUntil = (edge: string) => Number(edge.split("#")[0]);
const edgeReceiver = (edge: string) => edge.split("#")[1] ?? "";

/** Agents that `start` waits on, directly or through others, each with the agent that leads to it. */
export function reachable(waits: WaitEdges, start: string, nowMs: number): Map<string, string | undefined> {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  for (const agent of cameFrom.keys()) {
    for (const edge of waits.get(agent) ?? []) {
      const next = edgeReceiver(edge);
      if (edgeUntil(edge) > nowMs && !cameFrom.has(next)) cameFrom.set(next, agent);
    }
  }
  return cameFrom;
}

/** The ring that `sender` would close, from itself back to itself. */
export function ringOf(cameFrom: Map<string, string | undefined>, sender: string): string[] {
  const ring = [sender];
  for (let at = cameFrom.get(sender); at !== undefined; at = cameFrom.get(at)) ring.unshift(at);
  return [sender, ...ring];
}
