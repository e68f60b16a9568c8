/** The archive around a Debian package: names of up to 16 bytes, owned by root, at a given time. */

export interface Member {
  readonly name: string;
  readonly content: Uint8Array;
}

const NAME_BYTES = 16;

export function ar(members: readonly Member[], seconds: number): Buffer {
  const parts = members.flatMap(({ name, content }) => {
    if (Buffer.byteLength(name) > NAME_BYTES) throw new Error(`too long for a member of an archive: ${name}`);
    const fields = [
      name.padEnd(NAME_BYTES),
      String(seconds).padEnd(12),
      "0".padEnd(6),
      "0".padEnd(6),
      "100644".padEnd(8),
      String(content.length).padEnd(10),
    ];
    const padding = content.length % 2 === 1 ? "\n" : "";
    return [Buffer.from(`${fields.join("")}\`\n`), content, Buffer.from(padding)];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}
