import { FairleadError } from "../../../core/errors.ts";
import { Icon } from "../../ui/icon.tsx";
import { Brand } from "../../ui/shell.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import "./sign-in-page.css";

/** There is no password to ask for: the CLI, which is signed in, makes the link. */
export function SignInPage({ error }: { readonly error: Error | null }) {
  usePageTitle("Sign in");
  const refusal = error instanceof FairleadError && error.code === "TOKEN_INVALID" ? error.message : null;
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <Brand />
        <h1>Sign in</h1>
        {refusal === null ? null : (
          <p className="sign-in-refusal" role="alert">
            <Icon name="alert" /> Not signed in: {refusal}.
          </p>
        )}
        <p>On a machine where you are signed in with the command line, run:</p>
        <pre>
          <code>fairlead console</code>
        </pre>
        <p>It prints a link that opens this console. The link works once, for ten minutes.</p>
        <p className="muted">
          Not signed in there either? <code>fairlead login</code> comes first.
        </p>
      </div>
    </main>
  );
}
