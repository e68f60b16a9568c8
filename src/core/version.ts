/** The version of server, agent and command line. Equal to package.json's, which a single executable cannot read. */
export const FAIRLEAD_VERSION = "0.1.0";
