/** A rejection as a file of the agent keeps it. An older agent may have written text that no server stores. */
import { z } from "zod";
import { Rejection } from "../core/protocol/agent-api.ts";
import { withStorableText } from "../core/text.ts";

/** Repaired while it is read: such text must not keep an agent from its own files. */
export const KeptRejection = z.preprocess(withStorableText, Rejection.nullable());
