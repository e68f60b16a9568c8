import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/empty.tsx";
import { usePageTitle } from "../ui/use-page-title.ts";

export function NotFoundPage() {
  usePageTitle("No such page");
  return (
    <div className="page">
      <h1>No such page</h1>
      <Empty title="Nothing lives at this address.">
        <p>
          Go to the <Link to="/">fleet</Link> or to the <Link to="/rollouts">rollouts</Link>.
        </p>
      </Empty>
    </div>
  );
}
