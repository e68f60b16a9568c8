/** What lies installed is measured, never remembered: someone may have changed it by hand. */
import type { Digest } from "../../core/ids.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { hashFileIfThere } from "../upgrade/adapters/files/hash.ts";
import type { ProgramConfig } from "./config.ts";

/** Null when nothing is installed. Throws PATH_REFUSED for a link or a folder. */
export async function measureInstalled(
  { install_path }: Pick<ProgramConfig, "install_path">,
  fs?: FileSystemPort,
): Promise<Digest | null> {
  return hashFileIfThere(install_path, fs);
}
