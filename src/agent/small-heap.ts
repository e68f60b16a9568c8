/** Imported before all else: an agent waits nearly all of its life, and memory is what it costs a machine then. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { config } from "zod";

// The young generation keeps the size it starts with. Its growth while enrolling would stay for as long as the agent runs.
setFlagsFromString("--semi-space-growth-factor=1");

// Size before speed: what an agent does often, hashing and verifying, is native. Nothing here is hot enough for a compiler
// in between.
setFlagsFromString("--optimize-for-size");
setFlagsFromString("--no-maglev");

// No function is compiled for each schema: it would be kept for messages that come twice a minute.
config({ jitless: true });

/** For a moment after which nothing will happen for long: what enrolling or an upgrade left behind goes back. */
export function giveMemoryBack(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (how: object) => void; // only a context that is made now knows it
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" }); // compiled code that is not in use goes too
}
