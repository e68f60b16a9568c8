/** The twelve checks of a snapshot (SNAP-7) by their names, for people. */
export const CHECK_NAMES = [
  "the envelope is known",
  "it is for this cluster",
  "it is for this node",
  "the signer is trusted for this scope",
  "the signatures verify",
  "the content is what was signed",
  "it is valid now",
  "its epoch is the one in force",
  "its version is newer",
  "it stays within the node's roles and organizations",
  "its content has the right structure",
  "it holds no raw secret",
] as const;

export const checkName = (step: number): string | null => CHECK_NAMES[step - 1] ?? null;
