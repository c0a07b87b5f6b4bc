import type { FileSystem } from './file-system.ts'
import type { FileSystemKind } from './file-system-kinds.ts'

/** What distinguishes a file system from another one at the same mount point; null where the system does not say it. */
export interface RootVolume {
  /** Its UUID, which FAT calls serial number, as Linux lists it. */
  readonly id: string | null
  readonly sizeBytes: number | null
}

export const UNKNOWN_VOLUME: RootVolume = { id: null, sizeBytes: null }

/** Links of these names lead to the devices of file systems. */
const BY_UUID = '/dev/disk/by-uuid'

/** Identifies the file system of `kind` on `device`, of which `sizeBytes` is the size. */
export function identifyVolume(
  fs: FileSystem,
  device: bigint,
  { kind, sizeBytes }: { readonly kind: FileSystemKind | undefined; readonly sizeBytes: number },
): RootVolume {
  return { id: findUuid(fs, device), sizeBytes: kind?.hasFixedSize ? sizeBytes : null }
}

/** Containers and systems without udev have no such links. */
function findUuid(fs: FileSystem, device: bigint): string | null {
  try {
    const links = fs.readdirSync(BY_UUID, { withFileTypes: true })
    return links.find(({ name }) => leadsTo(fs, `${BY_UUID}/${name}`, device))?.name ?? null
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
