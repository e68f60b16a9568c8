import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

/**
 * An absolute path inside the repository, wherever the caller was started.
 * @param {string} path
 */
export const inRoot = (path) => fileURLToPath(new URL(path, root));
