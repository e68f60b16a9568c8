// Every signature of the server passes the gate of its clocks (SNAP-17).

import { expect, test } from "vitest";
import { occurrences, sourcesLike, withoutComments } from "./repository.ts";

/** Asked which keys sign, not asked to sign: the gate itself, and two comparisons of key ids. */
const MAY_ASK = [
  "src/server/keys/bundle-in-step.ts",
  "src/server/snapshots/authority.ts",
  "src/server/snapshots/dirty.ts",
];

test("SNAP-17: no file of the server asks for signers but through the gate of the clocks", () => {
  const asking = sourcesLike("src/server/**/*.ts").flatMap(({ path, text }) =>
    occurrences({ path, text: withoutComments(text) }, /\.signers\(\)/g).map(() => path),
  );
  expect([...new Set(asking)].toSorted()).toEqual(MAY_ASK);
});

test("SNAP-17: certificates are dated by the clock that the gate has agreed to", () => {
  const [serve] = sourcesLike("src/server/serve.ts");
  const dated = [
    ...serve!.text.matchAll(/create(?:ServerCertificate|EnrollListener)\(|registerRenewRoute\(/g),
  ];
  expect(dated).toHaveLength(3);
  for (const { index } of dated)
    expect(serve!.text.slice(index, serve!.text.indexOf("});", index))).toContain("clock: agreed");
});
