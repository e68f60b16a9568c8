/** Nobody passes without a session; the pages behind may rely on it. */
import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { isSignedOut } from "../api/query-client.ts";
import { whoamiQuery } from "../api/queries.ts";
import { isSigningIn } from "../api/session.ts";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Shell } from "../ui/shell.tsx";
import { SignInPage } from "./sign-in/sign-in-page.tsx";

export function Gate() {
  const { data, error, refetch } = useQuery(whoamiQuery);
  if (isSignedOut(error)) return <SignInPage error={error} />;
  if (data !== undefined) {
    return (
      <Shell who={data}>
        <Outlet />
      </Shell>
    );
  }
  return (
    <main className="splash">
      <h1 className="visually-hidden">Fairlead</h1>
      {error === null ? (
        <output>{isSigningIn() ? "Signing in…" : "Reading from the server…"}</output>
      ) : (
        <ErrorPanel
          error={error}
          title="The console cannot reach its server"
          onRetry={() => void refetch()}
        />
      )}
    </main>
  );
}
