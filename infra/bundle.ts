import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { type BuildFailure, buildSync, type Metafile } from "esbuild";
import { OperatorError } from "./arguments.ts";

const root = resolve(import.meta.dirname, "..");

export interface Bundle {
  /** A folder that holds all that a Lambda function needs: `index.mjs` and its source map. */
  folder: string;
  metafile: Metafile;
}

const bundled = new Map<string, Bundle>();
let drafts: string | undefined;

/** Holds the bundles until this process ends; CDK has copied them by then. */
function draftFolder(): string {
  if (drafts !== undefined) return drafts;
  const folder = mkdtempSync(join(tmpdir(), "switchboard-bundles-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  drafts = folder;
  return folder;
}

/** Some dependencies are CommonJS and call `require`, which ES modules don't have. */
const banner = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * Bundles one handler with everything that it imports, the AWS SDK included: the runtime's own changes under
 * the function's feet, and loads slower. Once per process and handler.
 * @param entry path from the repository's root
 * @throws {OperatorError} naming the handler and what is wrong in it
 */
export function bundle(entry: string): Bundle {
  const known = bundled.get(entry);
  if (known !== undefined) return known;
  const folder = join(draftFolder(), entry.replaceAll(/[^\w]/g, "-"));
  try {
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile: join(folder, "index.mjs"),
      bundle: true,
      platform: "node",
      target: "node24",
      format: "esm",
      // The ES module build of a package, where it has one: only that can be shaken.
      mainFields: ["module", "main"],
      minify: true,
      sourcemap: "linked",
      sourcesContent: false,
      metafile: true,
      banner: { js: banner },
      logLevel: "silent",
    });
    const made = { folder, metafile };
    bundled.set(entry, made);
    return made;
  } catch (error) {
    throw new OperatorError(`${entry} can't be bundled:\n${explained(error as BuildFailure)}`, { cause: error });
  }
}

function explained({ errors = [], message }: Partial<BuildFailure>): string {
  if (errors.length === 0) return `  ${message}`;
  return errors
    .map(({ text, location }) => {
      const at = location ? `${relative(root, resolve(root, location.file))}:${location.line}: ` : "";
      return `  ${at}${text}`;
    })
    .join("\n");
}

export const toolEntry = (name: string) => `functions/${name}/handler.ts`;
export const workerEntry = (name: string) => `functions/_workers/${name}/handler.ts`;
