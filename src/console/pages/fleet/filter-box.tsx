import { Button } from "react-aria-components/Button";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { SearchField } from "react-aria-components/SearchField";
import { Icon } from "../../ui/icon.tsx";

interface Props {
  readonly filter: string;
  readonly onFilter: (text: string) => void;
}

export function FilterBox({ filter, onFilter }: Props) {
  return (
    <SearchField className="filter-box" value={filter} onChange={onFilter} maxLength={500}>
      <Label className="visually-hidden">Filter nodes</Label>
      <Input
        placeholder="Filter: a name, or state:down version:2.1.0"
        spellCheck="false"
        autoComplete="off"
      />
      <Button className="icon-button" aria-label="Clear filter">
        <Icon name="close" />
      </Button>
    </SearchField>
  );
}
