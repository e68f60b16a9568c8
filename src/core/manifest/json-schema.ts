/** The manifest's schema for editors: `# yaml-language-server: $schema=…`. */
import { z } from "zod";
import { Manifest } from "./schema.ts";

export function manifestJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(Manifest, { io: "input" });
  return { $schema, title: "Fairlead upgrade manifest", ...schema };
}
