import { createHash } from "node:crypto";
import type { Contract } from "../../../_runtime/contract.ts";
import { definition, type Language } from "../../../_runtime/manifest.ts";
import type { JsonSchema } from "../../../_runtime/schema.ts";
import { Html, html } from "./html.ts";
import { words } from "./words.ts";

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;padding:.5rem;border:1px solid #8886}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid #8886}
section{border-top:2px solid #8886;margin-top:2rem}summary{cursor:pointer}nav li{margin:.1rem 0}
.facts{font-size:.9em;opacity:.8}`;

/** The page holds no script and loads nothing; its one style sheet is named by its digest. */
export const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** The API for people: every tool with its parameters, returns, errors and examples, from the contracts. */
export function page(contracts: readonly Contract[], language: Language): string {
  const w = words[language];
  const sections = contracts.map((contract) => section(contract, language));
  const entries = contracts.map((contract) => {
    const { name, title } = definition(contract, language);
    return html`<li><a href="#${name}"><code>${name}</code></a> ${title}</li>\n`;
  });
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${w.title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<header>
<p><a href="?lang=en" lang="en" hreflang="en">English</a> · <a href="?lang=zh-CN" lang="zh-CN" hreflang="zh-CN">中文</a></p>
<h1>${w.title}</h1>
<p>${w.intro}</p>
<pre>curl "$SWITCHBOARD_URL/v1/tools/list_agents" -H "Authorization: Bearer $SWITCHBOARD_KEY" -H 'Content-Type: application/json' -d '{}'</pre>
<p>${w.machine}: <a href="openapi.json?lang=${language}"><code>GET /openapi.json</code></a>, <code>GET /v1/tools</code>, <code>POST /mcp</code></p>
</header>
<nav><h2>${w.tools}</h2><ul>
${entries}</ul></nav>
<main>
${sections}</main>
</body>
</html>
`.text;
}

function section(contract: Contract, language: Language): Html {
  const w = words[language];
  const { name, title, description, inputSchema, outputSchema, errorModel, examples } = definition(contract, language);
  const errors = Object.entries(errorModel).map(
    ([type, text]) => html`<tr><td><code>${type}</code></td><td>${text}</td></tr>\n`,
  );
  return html`<section id="${name}">
<h2><code>POST /v1/tools/${name}</code> ${title}</h2>
<p>${description}</p>
<p class="facts">${facts(contract, language)}</p>
<h3>${w.parameters}</h3>
${fieldTable(inputSchema, language)}
<details><summary>${w.returns}</summary>
${fieldTable(outputSchema, language)}
</details>
<details><summary>${w.errors}</summary>
<table><thead><tr><th>${w.type}</th><th>${w.nextStep}</th></tr></thead><tbody>
${errors}</tbody></table>
</details>
<details><summary>${w.example}</summary>
${examples.map(({ input, output }) => html`<pre>${JSON.stringify(input, undefined, 2)}</pre>\n<pre>${JSON.stringify(output, undefined, 2)}</pre>\n`)}</details>
</section>
`;
}

function facts(contract: Contract, language: Language): string {
  const w = words[language];
  const { permissions, riskLevel, sideEffect, idempotent, requiresApproval, audience } = contract;
  return [
    `${w.permission}: ${permissions.join(", ")}`,
    `${w.risk}: ${riskLevel}`,
    `${w.sideEffect}: ${sideEffect}`,
    `${w.repeatable}: ${idempotent ? w.yes : w.no}`,
    `${w.approval}: ${requiresApproval ? w.yes : w.no}`,
    ...(audience === "operator" ? [w.operators] : []),
  ].join(" · ");
}

interface Field {
  /** Like `tasks[].name`. */
  path: string;
  schema: JsonSchema;
  isRequired: boolean;
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema, around = ""): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${around}${name}`;
    const inside = schema.items ? fieldsOf(schema.items, `${path}[].`) : fieldsOf(schema, `${path}.`);
    return [{ path, schema, isRequired: required.includes(name) }, ...inside];
  });
}

function fieldTable(schema: JsonSchema, language: Language): Html {
  const w = words[language];
  const rows = fieldsOf(schema).map(({ path, schema, isRequired }) => {
    const notes = [
      ...(isRequired ? [w.required] : []),
      ...(schema.enum ? [schema.enum.map((value) => JSON.stringify(value)).join(" | ")] : []),
      ...(schema.default === undefined ? [] : [`${w.default} ${JSON.stringify(schema.default)}`]),
    ];
    return html`<tr><td><code>${path}</code></td><td>${typeOf(schema)}</td><td>${schema.description ?? ""} <small>${notes.join(" · ")}</small></td></tr>\n`;
  });
  return html`<table><thead><tr><th>${w.name}</th><th>${w.type}</th><th>${w.meaning}</th></tr></thead><tbody>
${rows}</tbody></table>`;
}

const typeOf = ({ type = "", items }: JsonSchema): string => (items ? `${typeOf(items)}[]` : type);
