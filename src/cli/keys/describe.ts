/** A trust bundle in words, for whoever is about to sign it. */
import { bundleDifference, listedKeys, type ListedKey } from "../../core/keys/bundle-difference.ts";
import { shortKey } from "../../core/keys/standing.ts";
import type { BelievedBundle } from "./believe.ts";

export function describeBundle(bundle: BelievedBundle, before: BelievedBundle | null): string[] {
  const { header, content } = bundle;
  const { config_version: version, authority_epoch: epoch, cluster_id } = header;
  const about = `trust bundle ${version} of epoch ${epoch} for cluster ${cluster_id}, valid until ${header.expires_at}`;
  if (before === null) return [about, "no earlier bundle is known here; it lists:", ...everything(bundle)];
  const was = before.header;
  const against = `against bundle ${was.config_version} of epoch ${was.authority_epoch}:`;
  const changes = [
    ...(epoch === was.authority_epoch
      ? []
      : [
          `opens epoch ${epoch} (${content.recovery?.reason ?? "no reason"}): every version begins anew, and what was signed before is refused`,
        ]),
    ...differences(bundle, before),
  ];
  return [about, against, ...(changes.length === 0 ? ["changes nothing but its validity"] : changes)];
}

function differences({ content }: BelievedBundle, before: BelievedBundle): string[] {
  const difference = bundleDifference(before.content, content);
  const { threshold, intentsRequired } = difference;
  const named = new Map(listedKeys(before.content).map((key) => [key.record.key_id, key]));
  return [
    ...difference.added.map((key) => `adds ${words(key)}`),
    ...difference.changed.map((key) => `changes ${words(key)}`),
    ...difference.removed.map((key) => `removes ${words(key)}`),
    ...difference.revoked.map((id) => {
      const key = named.get(id);
      return `REVOKES ${key === undefined ? `key ${shortKey(id)}` : words(key)}, for good`;
    }),
    ...(threshold === null ? [] : [`asks for ${threshold.to} root signatures in place of ${threshold.from}`]),
    ...(intentsRequired === null
      ? []
      : [intentsRequired.to ? "requires operators' intents from now on" : "requires intents NO MORE"]),
  ];
}

const everything = ({ content }: BelievedBundle): string[] => [
  ...listedKeys(content).map(words),
  ...content.revoked_keys.map((id) => `revoked: key ${shortKey(id)}`),
  `root signatures asked for: ${content.root.threshold} of ${content.root.keys.length}`,
  `intents ${content.intents_required ? "required" : "not required"}`,
];

function words({ authority, record }: ListedKey): string {
  const name = record.name === undefined ? "" : ` ${record.name}`;
  const until = record.valid_until === undefined ? "" : `, valid until ${record.valid_until}`;
  const profiles =
    record.profiles === undefined
      ? ""
      : record.profiles.length === 0
        ? ", for every profile"
        : `, for ${record.profiles.join(", ")}`;
  return `${authority} key${name} ${shortKey(record.key_id)}${profiles}${until}`;
}
