/** Writes deploy/grafana/fairlead.json anew. */
import { writeFileSync } from "node:fs";
import { dashboardText } from "./grafana/dashboard.ts";
import { inRoot } from "./root.mjs";

writeFileSync(inRoot("deploy/grafana/fairlead.json"), dashboardText());
