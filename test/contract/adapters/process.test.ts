import { machine } from "../../support/programs/machine.ts";
import { adapterContract } from "./suite.ts";

adapterContract("process", machine);
