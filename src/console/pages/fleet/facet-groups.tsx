/** Counts that are also filters: press one, and the table shows those nodes. */
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import type { Pages } from "../../api/read-pages.ts";
import { Icon } from "../../ui/icon.tsx";
import { useNow } from "../../ui/use-now.ts";
import { healthFacets, standingFacets, versionFacets, type Facet } from "./facets.ts";
import { hasWord, toggleWord } from "./filter.ts";
import "./facet-groups.css";

/** Thousands of nodes are not counted again each second. */
const COUNT_AGAIN_MS = 5_000;

interface Props {
  /** Undefined while it is read: the groups stand already, and claim nothing. */
  readonly nodes: Pages<NodeView> | undefined;
  readonly filter: string;
  readonly onFilter: (text: string) => void;
}

export function FacetGroups({ nodes, filter, onFilter }: Props) {
  const items = nodes?.items ?? [];
  const now = useNow(COUNT_AGAIN_MS);
  const groups = [
    { name: "State", facets: standingFacets(items) },
    { name: "Health", facets: healthFacets(items, now) },
    { name: "Versions", facets: versionFacets(items) },
  ];
  return (
    <section aria-label="Summary" className="facet-groups" aria-busy={nodes === undefined}>
      {groups.map(({ name, facets }) => (
        <div key={name} className="facet-group">
          <h2>{name}</h2>
          <ul>
            {facets.map((facet) => (
              <li key={facet.word}>
                <FacetButton
                  facet={facet}
                  total={nodes?.items.length}
                  isOn={hasWord(filter, facet.word)}
                  onToggle={() => onFilter(toggleWord(filter, facet.word))}
                />
              </li>
            ))}
          </ul>
          {facets.length === 0 && nodes !== undefined ? <p className="muted">None reported</p> : null}
        </div>
      ))}
      {nodes?.isComplete === false ? (
        <p className="muted">Counted over the first {items.length} nodes; there are more.</p>
      ) : null}
    </section>
  );
}

interface FacetProps {
  readonly facet: Facet;
  /** Undefined: not known, which is not none. */
  readonly total: number | undefined;
  readonly isOn: boolean;
  readonly onToggle: () => void;
}

function FacetButton({ facet, total, isOn, onToggle }: FacetProps) {
  const { look, count } = facet;
  const share = total === undefined || total === 0 ? 0 : count / total;
  return (
    <button
      type="button"
      className="facet"
      data-tone={count === 0 ? "neutral" : look.tone}
      aria-pressed={isOn}
      onClick={onToggle}
    >
      <Icon name={look.icon} />
      <span className="facet-label">{look.label}</span>
      <span className="facet-count numbers">{total === undefined ? "–" : count}</span>
      <span className="facet-share" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
    </button>
  );
}
