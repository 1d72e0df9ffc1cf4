import { acts, unique } from "../acts.ts";
import { type Summary, summary, timed } from "./statistics.ts";
import type { Target } from "./target.ts";

/** A session from its first call to its five hundredth, and calls that come all at once. */
export interface SessionFigures {
  first100: Summary;
  last100: Summary;
  parallel: { calls: number; accepted: number; ms: number; times: Summary };
}

const callsOfSession = 500;
const atOnce = 50;
const content = "Are you there?";

export async function sessionFigures({ tool }: Target): Promise<SessionFigures> {
  const { register, call } = acts(tool);
  const sender = await register("lead");
  const receivers: string[] = [];
  // At most 64 calls may be open for one of them in one session.
  for (let n = 0; n < 10; n++) receivers.push(await register("writer"));
  const receiverOf = (n: number) => String(receivers[n % receivers.length]);

  const session_id = unique("s");
  const times: number[] = [];
  for (let n = 0; n < callsOfSession; n++) {
    times.push(await timed(() => call({ session_id, sender, receiver: receiverOf(n), content })));
  }

  const parallelSession = unique("s");
  const each: number[] = [];
  let accepted = 0;
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: atOnce }, async (_, n) => {
        each.push(
          await timed(async () => {
            const answer = await call({ session_id: parallelSession, sender, receiver: receiverOf(n), content });
            if (answer.status === 202) accepted += 1;
          }),
        );
      }),
    ),
  );
  return {
    first100: summary(times.slice(0, 100)),
    last100: summary(times.slice(-100)),
    parallel: { calls: atOnce, accepted, ms, times: summary(each) },
  };
}
