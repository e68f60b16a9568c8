/** Config files rendered for each node: from the operator's templates, through a signed intent, onto two machines. */
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Lab } from "../../../support/lab/lab.ts";
import { writeManifest } from "../../../support/lab/manifest.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";
import type { Published } from "../../../support/lab/origin.ts";
import { completed, endingOf, runCreate } from "../../../support/lab/rollout.ts";

const PROFILE = "rendered";
const TEMPLATE = `# {{ profile }} {{ upgrade.source_version }} to {{ upgrade.target_version }}
listen: {{ node.name }}:{{ port }}
zone: {{ node.labels.zone }}
{% if node.labels.disk %}disk: {{ node.labels.disk }}{% else %}disk: none{% endif %}
motto: {{ motto }}
`;

export function renderedConfigs(lab: () => Lab): void {
  describe("config files that differ from node to node", () => {
    let nodes: LabNode[];
    let v2: Published;
    const manifest = (id: string, to: Published, port: number) =>
      writeManifest(lab(), {
        id,
        profile: PROFILE,
        to,
        more: {
          config_changes: [
            { path: "etc/node.conf", template: "node.liquid", variables: { port: 80, motto: "" } },
            { path: "secret.conf", content: "password: secret://vault/db\n" },
          ],
          variable_overrides: { port, motto: "{{ node.id }}" },
        },
      });
    const args = (file: string, from: string): string[] =>
      [
        ["rollout", "create", "--manifest", file, "--type", NODE_TYPE, "--source-version", from],
        ["--batch-size", "2", "--health-wait", "0s"],
      ].flat();
    const upgrade = async (file: string, from: string) =>
      endingOf(lab(), await runCreate(lab(), [...args(file, from), "--start"]));
    const configOf = (node: LabNode, path = "etc/node.conf") => join(node.folder, "config", path);
    const read = (node: LabNode) => readFile(configOf(node), "utf8");

    beforeAll(async () => {
      v2 = lab().origin.publish("2.0.0");
      await mkdir(join(lab().configDir, "templates"), { recursive: true });
      await writeFile(join(lab().configDir, "templates/node.liquid"), TEMPLATE);
      nodes = await addRunningNodes(lab(), [
        { name: "rendered-1", profile: PROFILE, labels: { zone: "a" } },
        { name: "rendered-2", profile: PROFILE, labels: { zone: "b", disk: "nvme" } },
      ]);
    });

    test("ROLL-17: each node gets its own file, an override's expression is plain text, a reference makes it 0600", async () => {
      const file = await manifest("v2", v2, 8080);
      expect(await upgrade(file, "1.0.0")).toEqual(completed(nodes));
      const expected = (name: string, zone: string, disk: string): string =>
        `# rendered 1.0.0 to 2.0.0\nlisten: ${name}:8080\nzone: ${zone}\ndisk: ${disk}\nmotto: {{ node.id }}\n`;
      expect(await read(nodes[0]!)).toBe(expected("rendered-1", "a", "none"));
      expect(await read(nodes[1]!)).toBe(expected("rendered-2", "b", "nvme"));
      const mode = async (path: string) => (await stat(configOf(nodes[0]!, path))).mode & 0o777;
      expect([await mode("etc/node.conf"), await mode("secret.conf")]).toEqual([0o644, 0o600]);
    });

    test("ROLL-3: config files change alone, under the same version: the program restarts and is not installed anew", async () => {
      const [inode, starts] = [await nodes[0]!.inode(), (await nodes[0]!.starts()).length];
      expect(await upgrade(await manifest("v2-port", v2, 9090), "2.0.0")).toEqual(completed(nodes));
      expect(await read(nodes[0]!)).toContain("listen: rendered-1:9090\n");
      expect(await nodes[0]!.installed()).toBe(v2.checksum);
      expect((await nodes[0]!.starts()).length).toBe(starts + 1);
      expect(await nodes[0]!.inode()).toBe(inode);
    });

    test("ROLL-3: the same files again are no change: VERSION_UNCHANGED", async () => {
      const ran = await lab().operator.fairlead(
        ...args(await manifest("v2-same", v2, 9090), "2.0.0"),
        "--json",
      );
      // upgrade.source_version is in the file: it was 2.0.0 the last time too.
      expect([ran.code, ran.json()]).toEqual([
        3,
        { error: expect.objectContaining({ code: "VERSION_UNCHANGED" }) as unknown },
      ]);
    });

    test("SNAP-15: what the operator rendered differs from what the server renders: nothing is created", async () => {
      const mine = join(lab().folder, "my-templates");
      const file = await manifest("v2-mine", v2, 7070);
      await cp(join(lab().configDir, "templates"), mine, { recursive: true });
      await writeFile(join(mine, "node.liquid"), `${TEMPLATE}extra: yes\n`);
      const ran = await lab().operator.fairlead(...args(file, "2.0.0"), "--templates", mine, "--json");
      expect([ran.code, ran.json()]).toEqual([
        8,
        { error: expect.objectContaining({ code: "CONFIGS_DIFFER" }) as unknown },
      ]);
    });
  });
}
