import { Manifest } from "../core/manifest/schema.ts";
import { parseYaml } from "./yaml-file.ts";

/** Throws MANIFEST_INVALID with line and column. */
export const parseManifest = (bytes: Uint8Array, file = "manifest"): Manifest =>
  parseYaml(bytes, Manifest, "MANIFEST_INVALID", file);
