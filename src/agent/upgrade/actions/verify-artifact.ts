import { action, never, nothing } from "./action.ts";

export const verifyArtifact = action("verify_artifact", {
  isDone: never, // safe to repeat, and an answer from before a crash says nothing about the bytes of now
  run: async ({ adapter, plan, signal }) => adapter.verify(plan.artifact, signal),
  compensate: nothing,
});
