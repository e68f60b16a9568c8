/** The API to read, as one plain page made from the OpenAPI document: no script, nothing from elsewhere. */
import { z } from "zod";

const Operation = z.object({
  summary: z.string().default(""),
  tags: z.array(z.string()).default([]),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), schema: z.unknown() })).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
  responses: z.record(
    z.string(),
    z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })).optional() }),
  ),
});
type Operation = z.infer<typeof Operation>;

const Document = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string().default("") }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()).default({}) }),
});

export function docsPage(openapi: unknown): string {
  const { info, paths, components } = Document.parse(openapi);
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/"))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? "Other");
  const sections = [...byTag].map(
    ([tag, group]) => `<section><h2>${escape(tag)}</h2>${group.map(operationHtml).join("")}</section>`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="${escape(name)}"><summary><code>${escape(name)}</code></summary>${schemaHtml(schema)}</details>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(info.title)} API</title>
<style>${STYLE}</style></head><body><main><h1>${escape(info.title)} API ${escape(info.version)}</h1>
<p>${escape(info.description).replaceAll(/`([^`]+)`/g, "<code>$1</code>")}</p>
<p><a href="/openapi.json">openapi.json</a></p>${sections.join("")}
<section><h2>Schemas</h2>${schemas.join("")}</section></main></body></html>`;
}

function operationHtml({
  path,
  method,
  operation,
}: {
  path: string;
  method: string;
  operation: Operation;
}): string {
  const { summary, parameters, requestBody, responses } = operation;
  const rows = [
    ...parameters.map((parameter) => part(`${parameter.in} ${parameter.name}`, parameter.schema)),
    ...Object.values(requestBody?.content ?? {}).map(({ schema }) => part("body", schema)),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map(({ schema }) => part(`answer ${status}`, schema)),
    ),
  ];
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(summary)}</summary>
${rows.join("")}</details>`;
}

const part = (title: string, schema: unknown): string => `<h3>${escape(title)}</h3>${schemaHtml(schema)}`;

/** References become links; the rest is the schema as it stands. */
function schemaHtml(schema: unknown): string {
  const text = escape(JSON.stringify(schema, undefined, 2));
  return `<pre>${text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#$1">$1</a>')}</pre>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}
main{max-width:60rem;margin:0 auto;padding:1rem}summary{cursor:pointer;padding:.35rem 0}
details{border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent)}h3{font-size:.9rem;margin:.5rem 0 0}
pre{overflow:auto;padding:.75rem;background:color-mix(in srgb,currentColor 6%,transparent);border-radius:.4rem}
code,pre{font:.85rem/1.45 ui-monospace,monospace}`;
