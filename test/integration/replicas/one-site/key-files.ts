/** A server without the site's key files would be a stranger to every agent: it says what is missing and stops. */
import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fairleadProcess } from "../../../support/lab/operator.ts";
import type { Shared } from "../../../support/replicas/shared.ts";

export function keyFiles(shared: () => Shared): void {
  describe("a server on a site that has begun", () => {
    async function startWith(keysDir: string) {
      const { site } = shared();
      const flags = site.replicas[0]!.flags.map((flag) => (flag === site.keysDir ? keysDir : flag));
      const elsewhere = flags.map((flag) => flag.replace(/^(127\.0\.0\.1):\d+$/, "$1:0"));
      return fairleadProcess(site.home, "server", ...elsewhere);
    }

    test("USE-5: refuses to start without the key files, names each of them, and makes none", async () => {
      const { site } = shared();
      const empty = join(site.folder, "no-keys");
      const { code, err } = await startWith(empty);
      expect(code).not.toBe(0);
      for (const name of ["site-ca.json", "operator-token-key.pem", "online-key.pem"])
        expect(err).toContain(name);
      expect(err).toMatch(/SITE_KEYS_MISSING[\s\S]*Copy the named files/);
    });

    test("USE-5: refuses key files of another site", async () => {
      const { site } = shared();
      const mixed = join(site.folder, "mixed-keys");
      await mkdir(mixed, { mode: 0o700 });
      await cp(site.keysDir, mixed, { recursive: true });
      await rm(join(mixed, "operator-token-key.pem"));
      await cp(join(site.folder, "keys", "release.pem"), join(mixed, "operator-token-key.pem"));
      const { code, err } = await startWith(mixed);
      expect([code === 0, err.includes("operator-token-key.pem"), err.includes("another site")]).toEqual([
        false,
        true,
        true,
      ]);
    });
  });
}
