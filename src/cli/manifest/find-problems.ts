/** All that is wrong with a manifest as far as no server is needed: its schema, its templates, its rules. */
import { basename, dirname } from "node:path";
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { ConfigRecipe, Place } from "../../core/manifest/recipe.ts";
import type { Manifest } from "../../core/manifest/schema.ts";
import { brokenRules } from "../../core/rollout/creation-rules.ts";
import { readManifest, recipeAt, type OpenManifest, type ReadTemplate } from "../../host/manifest-file.ts";
import { planRecipes, refuseUnusedOverrides } from "../../render/configs.ts";
import { openConfigBook } from "../../render/node-configs.ts";
import { configSeal } from "../../trust/config-secrets.ts";

export interface FoundProblem extends Place {
  readonly code: ErrorCode;
  readonly message: string;
}

export async function findProblems(
  bytes: Uint8Array,
  file: string,
  readTemplate: ReadTemplate,
): Promise<FoundProblem[]> {
  const read = readManifest(bytes, file);
  if (read.kind === "broken")
    return read.problems.map(({ message, place }) => ({ code: "MANIFEST_INVALID", message, ...place }));
  const open = { manifest: read.value, document: read.document };
  const found = [
    ...misnamed(open, file),
    ...ruleProblems(open),
    ...(await configProblems(open, readTemplate)),
  ];
  return found.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** In a config folder, the file's place says which upgrade of which profile it is. */
function misnamed({ manifest, document }: OpenManifest, file: string): FoundProblem[] {
  const profile = basename(dirname(file));
  if (basename(dirname(dirname(file))) !== "upgrades") return [];
  const wrong = (field: "upgrade_id" | "chain_profile_id", name: string): FoundProblem[] =>
    manifest[field] === name
      ? []
      : [
          {
            code: "MANIFEST_INVALID",
            message: `${field}: the file's place says ${name}`,
            ...document.placeOf([field]),
          },
        ];
  return [...wrong("upgrade_id", basename(file, ".yaml")), ...wrong("chain_profile_id", profile)];
}

const FIELD_OF_RULE: Readonly<Record<number, keyof Manifest>> = {
  1: "target_checksum",
  2: "target_checksum",
  3: "target_url",
  7: "state_compatibility",
};

/** What the call must say beside the manifest (versions, canary, acknowledgement) is taken as said. */
function ruleProblems({ manifest, document }: OpenManifest): FoundProblem[] {
  const { migration_type, recovery_plan } = manifest.state_compatibility;
  const broken = brokenRules({
    runtime: manifest.runtime,
    sourceVersion: "",
    targetVersion: manifest.target_version,
    url: manifest.target_url,
    checksum: manifest.target_checksum,
    strategy: "canary",
    migrationType: migration_type,
    recoveryPlan: recovery_plan,
    acknowledgeStateRisk: true,
    configOnly: false,
  });
  // An empty checksum is no sha256 either: one complaint is enough.
  const first = broken.filter(
    ({ code }) => code !== "CHECKSUM_NOT_SHA256" || manifest.target_checksum !== "",
  );
  return first.map(({ code, message, detail }) => ({
    code,
    message,
    ...document.placeOf([FIELD_OF_RULE[Number(detail?.["rule"])] ?? ""]),
  }));
}

async function configProblems(open: OpenManifest, readTemplate: ReadTemplate): Promise<FoundProblem[]> {
  const { manifest, document } = open;
  const overrides = manifest.variable_overrides;
  const overridesPlace = document.placeOf(["variable_overrides"]);
  const upgrade = {
    profile: manifest.chain_profile_id,
    upgradeId: manifest.upgrade_id,
    targetVersion: manifest.target_version,
    sourceVersion: manifest.target_version,
  };
  const found: FoundProblem[] = [];
  const recipes: ConfigRecipe[] = [];
  const noting = async (place: Place, work: () => Promise<void> | void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FairleadError)) throw error;
      found.push(problemOf(error, place));
    }
  };
  for (const at of manifest.config_changes.keys()) {
    await noting(document.placeOf(["config_changes", at]), async () => {
      const recipe = await recipeAt(open, at, readTemplate);
      openConfigBook(planRecipes({ recipes: [recipe], overrides, overridesPlace }, upgrade), configSeal);
      recipes.push(recipe);
    });
  }
  // With a template missing or broken, an override may be for that one.
  if (found.length === 0)
    await noting(overridesPlace, () => refuseUnusedOverrides({ recipes, overrides, overridesPlace }));
  return found;
}

function problemOf({ code, message, detail = {} }: FairleadError, place: Place): FoundProblem {
  const { file = place.file, line = place.line, column = place.column } = detail as Partial<Place>;
  const prefix = `${file}:${line}:${column}: `;
  return {
    code,
    message: message.startsWith(prefix) ? message.slice(prefix.length) : message,
    file,
    line,
    column,
  };
}
