/**
 * Names of nodes, and templates that make them of what a machine says about itself.
 *
 * 1. A machine chooses the text, so the result is checked like any name, and never takes the name of a live node.
 */
import { z } from "zod";
import { LineText } from "../text.ts";

const NODE_NAME_CHARS_MAX = 253;

/** A host name's characters: it is printed on terminals and pages. */
export const NodeName = z
  .string()
  .min(1)
  .max(NODE_NAME_CHARS_MAX)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "letters, digits, dot, dash and underscore only");

export const NAME_TEMPLATE_DEFAULT = "{hostname}";
const PLACEHOLDERS = ["hostname", "machine"] as const;
const PLACEHOLDER = /\{([^{}]*)\}/g;
/** Of the machine's id, enough to tell the machines of a fleet apart. */
const MACHINE_CHARS = 12;

export interface Machine {
  readonly hostname: string;
  /** Hex; null where the machine has none. */
  readonly machineId: string | null;
}

const isKnown = (name: string): boolean => (PLACEHOLDERS as readonly string[]).includes(name);

/** Text with `{hostname}` and `{machine}` in it, at least one of them. */
export const NameTemplate = LineText(NODE_NAME_CHARS_MAX)
  .refine(
    (text) => [...text.matchAll(PLACEHOLDER)].every(([, name = ""]) => isKnown(name)),
    `only ${PLACEHOLDERS.map((name) => `{${name}}`).join(" and ")} are replaced`,
  )
  .refine(
    (text) => text.match(PLACEHOLDER) !== null,
    "without {hostname} or {machine} every node has one name",
  )
  .refine(
    (text) => NodeName.safeParse(text.replaceAll(PLACEHOLDER, "x")).success,
    "letters, digits, dot, dash and underscore only",
  );

/** Null where the machine does not say enough, or the text is no name. */
export function nameFrom(template: string, { hostname, machineId }: Machine): string | null {
  const text = { hostname, machine: machineId?.slice(0, MACHINE_CHARS) ?? "" };
  const needsMachine = template.includes("{machine}");
  if (needsMachine && text.machine === "") return null;
  const name = template.replaceAll(PLACEHOLDER, (_, key: keyof typeof text) => text[key]);
  return NodeName.safeParse(name).success ? name : null;
}
