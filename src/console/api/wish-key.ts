/** A key for one wish: pressed twice, or sent again after a lost answer, it is still one. */
export const wishKey = (): string =>
  // Not randomUUID: over plain HTTP from another machine a browser does not offer it.
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
