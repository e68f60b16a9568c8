/** The group's controls, always in their places; each asks for a reason before it acts. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import { Group } from "react-aria-components/Group";
import type { GroupSignalKind } from "../../../core/group/states.ts";
import { GroupView } from "../../../core/protocol/group-api.ts";
import { request } from "../../api/http.ts";
import { KEYS } from "../../api/queries.ts";
import { groupQuery } from "../../api/steer-queries.ts";
import { ReasonDialog } from "../../ui/reason-dialog.tsx";
import { groupControlsFor, groupQuestion } from "./group-controls.ts";

const DANGERS: readonly GroupSignalKind[] = ["rollback", "cancel"];
const PRIMARY: readonly GroupSignalKind[] = ["start", "resume"];

export function GroupControls({ group }: { readonly group: GroupView }) {
  const [asking, setAsking] = useState<GroupSignalKind | null>(null);
  const client = useQueryClient();

  async function send(signal: GroupSignalKind, reason: string | undefined, key: string): Promise<void> {
    const path = `/rollout-groups/${encodeURIComponent(group.id)}/${signal}`;
    const body = reason === undefined ? {} : { reason };
    try {
      const newer = await request(GroupView, path, { method: "POST", body, key });
      client.setQueryData(groupQuery(group.id).queryKey, newer);
    } finally {
      void client.invalidateQueries({ queryKey: KEYS.groups });
    }
  }

  return (
    <Group className="controls" aria-label="Group controls">
      {groupControlsFor(group).map(({ signal, label, isEnabled }) => (
        <Button
          key={signal}
          className="button"
          data-kind={DANGERS.includes(signal) ? "danger" : PRIMARY.includes(signal) ? "primary" : "plain"}
          isDisabled={!isEnabled}
          onPress={() => setAsking(signal)}
        >
          {label}
        </Button>
      ))}
      <ReasonDialog
        question={asking === null ? null : groupQuestion(asking, group)}
        onClose={() => setAsking(null)}
        onConfirm={(reason, key) => send(asking!, reason, key)}
      />
    </Group>
  );
}
