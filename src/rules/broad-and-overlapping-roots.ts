import { isWithin, pathWithin } from '../foundation/files/paths.ts'

/** How one directory relates to another, by their real paths. */
type Overlap =
  | { readonly kind: 'apart' }
  | { readonly kind: 'same' }
  /** `inner`: the path of the inner directory below the outer one. */
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
/** The kernel generates these files; none is a document. */
const KERNEL_DIRECTORY = /^\/(?:dev|proc|sys|run)(?:\/|$)/
const DRIVE = /^[A-Za-z]:[\\/]?$/

/** Programs keep keys, passwords and sessions here; built-in ignore rules name further ones. */
const SECRET_DIRECTORIES = [
  ...'.aws .azure .cargo .docker .gem .kube .m2 .config/gcloud .config/gh .config/rclone .config/shelfd .terraform.d'.split(
    ' ',
  ),
  ...'.mozilla .thunderbird .config/chromium .config/google-chrome .config/BraveSoftware .pki'.split(' '),
  ...'.local/share/keyrings .local/share/kwalletd .config/1Password .config/Bitwarden Library/Keychains'.split(' '),
  ...'.bitcoin .electrum /etc/ssl/private /etc/ssh /etc/letsencrypt /etc/wireguard'.split(' '),
]

/** Returns whether `path`, a real path, is a directory with secrets or lies in one. */
export function keepsSecrets(path: string): boolean {
  return SECRET_DIRECTORIES.some((directory) =>
    directory.startsWith('/') ? isWithin(directory, path) : `${path}/`.includes(`/${directory}/`),
  )
}

/** Says why mirroring a directory needs a confirmation; undefined if it needs none. Both paths are real. */
export function describeBroadRoot(path: string, home: string): string | undefined {
  if (path === '/' || DRIVE.test(path)) return 'the whole system'
  if (path === home) return 'the whole home directory'
  if (isWithin(path, home)) return 'home directories'
  if (SYSTEM_DIRECTORIES.has(path) || KERNEL_DIRECTORY.test(path)) return 'a part of the system'
  return undefined
}

/** Returns the program's own directories below a mirror's root, relative to it; `inside` when the root is in one of them. */
export function ownDirectoriesBelow(rootRealPath: string, own: readonly string[]): readonly string[] | 'inside' {
  if (own.some((path) => isWithin(path, rootRealPath))) return 'inside'
  return own.map((path) => pathWithin(rootRealPath, path)).filter((path) => path !== undefined)
}

export interface Volume {
  readonly id: string | null
  readonly sizeBytes: number | null
}

/** Compares the identifiers, or the sizes if an identifier is unknown. A volume of unknown size may be any volume. */
export function mayBeSameVolume(pinned: Volume, found: Volume): boolean {
  if (pinned.id !== null && found.id !== null) return pinned.id === found.id
  return pinned.sizeBytes === null || found.sizeBytes === null || pinned.sizeBytes === found.sizeBytes
}
