/** Kept beside package.json's by a test: the agent ships as one file and cannot read it. */
export const AGENT_VERSION = "0.1.0";
