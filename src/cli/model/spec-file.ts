/** The spec that an operator wrote: checked here first, so that a mistake has a line and a secret never leaves the machine. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { RESOURCES, type ModelKind, type SpecOf } from "../../core/model/resources.ts";
import { parseYaml } from "../../host/yaml-file.ts";
import { findSecret } from "../../trust/find-secret.ts";
import { readNamedFile } from "../operator-files.ts";

interface Given {
  readonly file?: string | undefined;
  readonly jsonBody?: string | undefined;
}

export async function readSpec(kind: ModelKind, { file, jsonBody }: Given): Promise<SpecOf<ModelKind>> {
  if ((file === undefined) === (jsonBody === undefined)) {
    if (file === undefined && kind === "organization") return {};
    throw new FairleadError("USAGE", "give the spec by --file or by --json-body, one of them");
  }
  const bytes =
    file === undefined ? Buffer.from(jsonBody!) : await readNamedFile("--file", file, LIMITS.requestBytesMax);
  const name = file ?? "--json-body";
  // JSON is YAML too.
  const found = findSecret(parseYaml(bytes, z.json(), "INVALID_INPUT", name));
  if (found !== null) {
    const field = found.path.replace(/^content\.?/, "");
    throw new FairleadError("SNAPSHOT_SECRET_FOUND", `${name}: ${field} looks like ${found.looksLike}`, {
      field,
    });
  }
  return parseYaml(bytes, RESOURCES[kind].spec as z.ZodType<SpecOf<ModelKind>>, "INVALID_INPUT", name);
}
