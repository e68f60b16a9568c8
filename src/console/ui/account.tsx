import { useQueryClient } from "@tanstack/react-query";
import { Button } from "react-aria-components/Button";
import { signOut, type WhoAmI } from "../api/session.ts";

export function Account({ who }: { readonly who: WhoAmI }) {
  const client = useQueryClient();
  async function leave(): Promise<void> {
    // What the session showed must not stay behind, whether or not the server could be told.
    await signOut().catch(() => undefined);
    client.clear();
    location.assign("/");
  }
  return (
    <>
      <span className="account" title={`Signed in as ${who.user}`}>
        {who.user}
      </span>
      <Button className="button" onPress={() => void leave()}>
        Sign out
      </Button>
    </>
  );
}
