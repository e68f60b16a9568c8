import { machine } from "../../support/programs/machine.ts";
import { INSIDE_INSTALL, INSIDE_RESTORE, killSuite } from "./kill-suite.ts";

killSuite("process", machine, {
  inside: {
    ...INSIDE_INSTALL,
    "stop, before anything is signalled": [String.raw`rename .*/launch\.json$`],
    "start, when the shim is wanted and not yet there": [
      String.raw`rename .*/launch\.json$`,
      String.raw`rename .*/launch\.json$`,
      String.raw`sync .*/programs/hello-mainnet$`,
    ],
  },
  whileTakenBack: { "the program": INSIDE_RESTORE },
});
