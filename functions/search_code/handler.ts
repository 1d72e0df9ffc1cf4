import { permitted, reading } from "../_repositories/permitted.ts";
import { sourceRef } from "../_repositories/source_ref.ts";
import { serve } from "../_runtime/serve.ts";
import { candidates } from "./candidates.ts";
import { contract } from "./contract.ts";
import { invalidCursor, readCursor, writeCursor } from "./cursor.ts";
import { pathFilter } from "./glob.ts";
import { lineMatcher } from "./line_matcher.ts";
import { scan } from "./scan.ts";

const slow =
  "No part of the query is fixed text of 3 bytes or more, so the index can't help and files are read one after another. Add fixed text, or narrow paths.";

export const handler = serve(contract, async (input, { principal }) => {
  const { repositoryId, query, regex, caseSensitive, paths, limit } = input;
  const repository = await permitted(principal, repositoryId);
  const matcher = lineMatcher(input);
  const includes = pathFilter(paths);
  const asked = [repositoryId, query, regex, caseSensitive, paths];
  const from = readCursor(asked, input.cursor);
  // A search goes on in the snapshot that it began in, so that no line is shown twice or left out.
  const serving = repository.snapshots.find(({ id }) => from === undefined || id === from.snapshot);
  if (serving === undefined) throw invalidCursor();
  return reading(principal, repository, serving, async (snapshot, commit) => {
    const segments = await candidates(snapshot.place, matcher.need);
    const begin = from ?? { segment: 0, line: 0 };
    const { matches, next, stoppedEarly } = await scan(snapshot, { segments, matcher, includes, limit }, begin);
    return {
      repositoryId,
      matches: matches.map(({ path, line, startByte, excerpt }) => ({
        path,
        line,
        startByte,
        excerpt,
        sourceRef: sourceRef(repositoryId, commit, path, line, line),
      })),
      stoppedEarly,
      nextCursor: next === undefined ? "" : writeCursor(asked, { snapshot: serving.id, ...next }),
      ...(segments === undefined && { note: slow }),
    };
  });
});
