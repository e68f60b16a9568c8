/** What every page stands in: skip link, header with navigation, banner, main. */
import { Link, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import type { WhoAmI } from "../api/session.ts";
import { Account } from "./account.tsx";
import { ConnectionState } from "./connection-state.tsx";
import { IncidentBadge } from "./incident-badge.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";
import { WeakerMode } from "./weaker-mode.tsx";
import "./shell.css";

export function Shell({ who, children }: { readonly who: WhoAmI; readonly children: ReactNode }) {
  const main = useFocusOnNavigation();
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="shell-header">
        <Brand />
        <nav aria-label="Main">
          <Link to="/" activeOptions={{ exact: true }}>
            Fleet
          </Link>
          <Link to="/rollouts">Rollouts</Link>
          <Link to="/groups">Groups</Link>
          <Link to="/incidents">
            Incidents <IncidentBadge />
          </Link>
          <Link to="/authority">Authority</Link>
          <Link to="/webhooks">Webhooks</Link>
        </nav>
        <ConnectionState />
        <div className="shell-tools">
          <ThemeToggle />
          <Account who={who} />
        </div>
      </header>
      {who.intents_required ? null : <WeakerMode />}
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <circle cx="12" cy="12" r="7.5" />
        <path d="M1.5 15.5C7 15.5 8 9 12.2 9S18 12.5 22.5 12.5" />
      </svg>
      Fairlead
    </span>
  );
}

/** After a link is followed, a screen reader reads on from the new page and not from where the link was. */
function useFocusOnNavigation() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}
