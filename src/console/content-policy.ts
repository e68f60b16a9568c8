/**
 * Lets the server forbid inline script and style outright. Imported before every schema and component.
 *
 * 1. zod asks once whether `eval` is allowed, by trying it: each visit would report a violation.
 * 2. React Aria adds one rule in a <style> of its own unless an element of this id is there; ui/base.css has the rule.
 */
import { config } from "zod";

config({ jitless: true }); // 1

const placeholder = document.createElement("meta"); // 2
placeholder.id = "react-aria-pressable-style";
document.head.append(placeholder);
