import { parseArgs } from "node:util";
import { isPermission } from "../functions/_runtime/contract.ts";
import { gradingFaults } from "../functions/_runtime/risk.ts";
import { fail, parsing, suggestion, UsageError } from "./arguments.ts";
import { longestToolName } from "./names.ts";
import { type Choices, type Draft, draftOfDefinition, draftOfSeed, newDraft } from "./tool/draft.ts";
import { readFormat } from "./tool/formats.ts";
import { type ManifestFile, readManifestFile, refuse } from "./tool/manifest_file.ts";
import { addTool } from "./tool/project.ts";
import { validator } from "./tool/schemas.ts";

const usage = `Usage: npm run tool -- <command> [options]

Adds a tool of your own to this project: contract, handler stub, a test that fails until the handler is written, its
row among the tools, its manifest.

Commands:
  new NAME      a tool without parameters; NAME is verb and object in snake_case, like send_invoice
  import FILE   a tool from its manifest: JSON with comments, in the format of the agent tools' manifests (params,
                returns) or of the Tool Definition template (inputSchema, outputSchema)

Options:
  --permission P   what a key must hold to use it, like invoice:send
  --title T        its English title
  --help
`;

/** Makes tools: `npm run tool`. */
function main(): void {
  const { values, positionals } = parsing(() =>
    parseArgs({
      options: { permission: { type: "string" }, title: { type: "string" }, help: { type: "boolean" } },
      allowPositionals: true,
    }),
  );
  if (values.help) return void console.log(usage);
  const [command, subject, ...rest] = positionals;
  const choices = readChoices(values);
  if (rest.length > 0) throw new UsageError(`"${rest.join(" ")}" is too much.`);
  const { made, changed } = addTool(drafted(command, subject, choices));
  console.log([...made.map((file) => `made     ${file}`), ...changed.map((file) => `changed  ${file}`)].join("\n"));
  console.log(`\nNext: write ${made[1]}, until npx vitest run ${made[2]} passes. npm start has the tool already.`);
}

function drafted(command: string | undefined, subject: string | undefined, choices: Choices): Draft {
  if (command === "new") {
    if (subject === undefined) throw new UsageError("new needs the tool's name.");
    const fault = nameFault(subject);
    if (fault !== undefined) throw new UsageError(fault);
    return newDraft(subject, choices);
  }
  if (command === "import") {
    if (subject === undefined) throw new UsageError("import needs a manifest's file.");
    return imported(readManifestFile(subject), choices);
  }
  if (command === undefined) throw new UsageError("Say what to do.");
  throw new UsageError(`There is no command "${command}".${suggestion(command, ["new", "import"])}`);
}

/** @throws {OperatorError} naming file, line and column of each fault */
function imported(file: ManifestFile, choices: Choices): Draft {
  const read = readFormat(file);
  const { name } = "seed" in read ? read.seed : read.definition;
  const fault = nameFault(name);
  if (fault !== undefined) refuse([{ path: ["name"], message: fault }], file);
  if ("seed" in read) return draftOfSeed(read.seed, file, choices);
  const draft = draftOfDefinition(read.definition, file, choices);
  const faults = gradingFaults(draft).map((message) => ({ path: ["riskLevel"], message: `${message}.` }));
  if (faults.length > 0) refuse(faults, file);
  assertExamples(draft, file);
  return draft;
}

/** Examples are calls that agents copy, so they keep to the tool's own schemas. */
function assertExamples({ examples, input, output }: Draft, file: ManifestFile): void {
  const faults = examples.flatMap((example, index) =>
    (
      [
        ["input", input, example.input],
        ["output", output, example.output],
      ] as const
    ).flatMap(([part, schema, value]) =>
      (validator(schema).safeParse(value).error?.issues ?? []).map((issue) => {
        const path = [
          "examples",
          index,
          part,
          ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step)),
        ];
        return { path, message: `this example isn't what ${part}Schema says: ${issue.message}.` };
      }),
    ),
  );
  if (faults.length > 0) refuse(faults, file);
}

function nameFault(name: string): string | undefined {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(name)) {
    return `"${name}" can't be a tool's name: verb and object in snake_case, a-z, 0-9 and _, like send_invoice.`;
  }
  if (name.length <= longestToolName) return undefined;
  return `"${name}" has ${name.length} characters; a tool's name has at most ${longestToolName}, so that it can be deployed.`;
}

function readChoices({ permission, title }: { permission?: string; title?: string }): Choices {
  if (permission !== undefined && !isPermission(permission)) {
    throw new UsageError(`--permission must look like invoice:send, in lower case, not "${permission}".`);
  }
  if (title === undefined || /^[^\p{C}]{1,200}$/u.test(title)) return { permission, title };
  throw new UsageError("--title must be one line of at most 200 characters.");
}

try {
  main();
} catch (error) {
  fail(error, usage);
}
