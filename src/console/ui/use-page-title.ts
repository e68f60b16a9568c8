import { useEffect } from "react";

/** The tab says where it is: operators keep several open. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Fairlead`;
  }, [title]);
}
