import { isWithin, pathWithin } from '../foundation/files/paths.ts'

/** How two directories, given by their real paths, overlap. */
type Overlap =
  | { readonly kind: 'apart' }
  | { readonly kind: 'same' }
  /** `inner` is the second one's path below the first, or the first one's below the second. */
  | { readonly kind: 'holds' | 'lies-in'; readonly inner: string }

export function overlapOf(left: string, right: string): Overlap {
  if (left === right) return { kind: 'same' }
  const rightInLeft = pathWithin(left, right)
  if (rightInLeft !== undefined) return { kind: 'holds', inner: rightInLeft }
  const leftInRight = pathWithin(right, left)
  return leftInRight === undefined ? { kind: 'apart' } : { kind: 'lies-in', inner: leftInRight }
}

const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set([
  ...'/bin /boot /etc /home /lib /lib32 /lib64 /media /mnt /opt /root /sbin /srv /tmp /usr /var'.split(' '),
  ...'/usr/bin /usr/include /usr/lib /usr/libexec /usr/local /usr/sbin /usr/share /usr/src'.split(' '),
  ...'/var/backups /var/cache /var/lib /var/log /var/mail /var/spool /var/tmp'.split(' '),
  ...'/Applications /Library /System /Users /Volumes /private /private/etc /private/tmp /private/var'.split(' '),
])
/** Directories whose files the kernel generates; none of these is a document. */
const KERNEL_DIRECTORY = /^\/(?:dev|proc|sys|run)(?:\/|$)/
const DRIVE = /^[A-Za-z]:[\\/]?$/

/** Directories in which programs keep keys, passwords and sessions, beside those that a built-in ignore rule names. */
const SECRET_DIRECTORIES = [
  ...'.aws .azure .cargo .docker .gem .kube .m2 .config/gcloud .config/gh .config/rclone .config/shelfd .terraform.d'.split(
    ' ',
  ),
  ...'.mozilla .thunderbird .config/chromium .config/google-chrome .config/BraveSoftware .pki'.split(' '),
  ...'.local/share/keyrings .local/share/kwalletd .config/1Password .config/Bitwarden Library/Keychains'.split(' '),
  ...'.bitcoin .electrum /etc/ssl/private /etc/ssh /etc/letsencrypt /etc/wireguard'.split(' '),
]

/** Returns whether a real path is one of those directories, or lies in one. */
export function keepsSecrets(path: string): boolean {
  return SECRET_DIRECTORIES.some((place) =>
    place.startsWith('/') ? isWithin(place, path) : `${path}/`.includes(`/${place}/`),
  )
}

/** Returns what a directory holds when it is too broad to mirror unconfirmed; undefined for any other. Takes real paths. */
export function describeBroadRoot(path: string, home: string): string | undefined {
  if (path === '/' || DRIVE.test(path)) return 'the whole system'
  if (path === home) return 'the whole home directory'
  if (isWithin(path, home)) return 'home directories'
  if (SYSTEM_DIRECTORIES.has(path) || KERNEL_DIRECTORY.test(path)) return 'a part of the system'
  return undefined
}

/**
 * Returns the program's own directories (absolute real paths) that lie below a mirror's root, relative to it; or `inside`
 * when the root is one of them or lies in one.
 */
export function ownDirectoriesBelow(rootRealPath: string, own: readonly string[]): readonly string[] | 'inside' {
  if (own.some((path) => isWithin(path, rootRealPath))) return 'inside'
  return own.map((path) => pathWithin(rootRealPath, path)).filter((path) => path !== undefined)
}

/** What identifies a file system, where the system reports it. */
export interface Volume {
  readonly id: string | null
  readonly sizeBytes: number | null
}

/** Returns whether two file systems may be one: by their identifiers, or by their sizes where an identifier is not known. */
export function mayBeSameVolume(pinned: Volume, found: Volume): boolean {
  if (pinned.id !== null && found.id !== null) return pinned.id === found.id
  return pinned.sizeBytes === null || found.sizeBytes === null || pinned.sizeBytes === found.sizeBytes
}
