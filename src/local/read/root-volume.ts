import type { Volume } from '../../rules/mirror-roots.ts'
import type { FileSystem } from './file-system.ts'
import type { FileSystemKind } from './file-system-kinds.ts'

export const UNKNOWN_VOLUME: Volume = { id: null, sizeBytes: null }

/** Links of these names lead to the devices of file systems. */
const BY_UUID = '/dev/disk/by-uuid'

/** Identifies the file system of `kind` on `device` by its UUID (of FAT: its serial number), and by its size unless that may vary. */
export function identifyVolume(
  fs: FileSystem,
  device: bigint,
  { kind, sizeBytes }: { readonly kind: FileSystemKind | undefined; readonly sizeBytes: number },
): Volume {
  return { id: findUuid(fs, device), sizeBytes: kind?.hasFixedSize ? sizeBytes : null }
}

/** Containers and systems without udev have no such links. */
function findUuid(fs: FileSystem, device: bigint): string | null {
  try {
    return fs.readdirSync(BY_UUID).find((name) => leadsTo(fs, `${BY_UUID}/${name}`, device)) ?? null
  } catch {
    return null
  }
}

function leadsTo(fs: FileSystem, link: string, device: bigint): boolean {
  try {
    return fs.statSync(link, { bigint: true }).rdev === device
  } catch {
    return false
  }
}
