/** What tests use beyond npm, git, sh and coreutils: `needs.ts` leaves out the tests that lack a program or an ability. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { delimiter, join } from 'node:path'

/** What tests may use anywhere: Node, npm, git, sh, and of coreutils what they use. */
export const BARE_PROGRAMS: readonly string[] = `
  node npm git sh basename cat chmod chown cp cut date df dirname du env expr false head id install ln ls mkdir mkfifo mknod mktemp mv
  nproc printf pwd readlink realpath rm rmdir seq sleep sort stat tail tee test timeout touch tr true truncate uname uniq wc
`
  .trim()
  .split(/\s+/)

/** The packages of Debian that have each program. */
const PACKAGES_OF = {
  adduser: ['adduser'],
  bash: ['bash'],
  catdoc: ['catdoc'],
  catppt: ['catdoc'],
  chromium: ['chromium'],
  curl: ['curl'],
  dpkg: ['dpkg'],
  'dpkg-deb': ['dpkg'],
  'dpkg-query': ['dpkg'],
  fallocate: ['util-linux'],
  ffmpeg: ['ffmpeg'],
  ffprobe: ['ffmpeg'],
  find: ['findutils'],
  fish: ['fish'],
  gcc: ['gcc', 'libc6-dev'],
  groff: ['groff-base'],
  jq: ['jq'],
  ldconfig: ['libc-bin'],
  mke2fs: ['e2fsprogs'],
  mount: ['mount'],
  openssl: ['openssl'],
  pgbouncer: ['pgbouncer'],
  pgrep: ['procps'],
  postgres: ['postgresql'],
  promtool: ['prometheus'],
  psql: ['postgresql-client'],
  python3: ['python3'],
  readelf: ['binutils'],
  sed: ['sed'],
  setpriv: ['util-linux'],
  'systemd-analyze': ['systemd'],
  'systemd-notify': ['systemd'],
  tar: ['tar'],
  tinyproxy: ['tinyproxy-bin'],
  umount: ['mount'],
  unshare: ['util-linux'],
  xls2csv: ['catdoc'],
  zsh: ['zsh'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Program = keyof typeof PACKAGES_OF

export const PROGRAMS: readonly Program[] = Object.keys(PACKAGES_OF).filter(isProgram)

/** What a user may do, or a machine has, as the end of a run names it. */
const ABILITIES = {
  mounts: { says: 'the right to mount', isThere: () => hasCapability(21) },
  root: { says: 'the rights of root', isThere: () => process.geteuid?.() === 0 },
  'no-root': { says: 'a user who is not root', isThere: () => process.geteuid?.() !== 0 },
  fuse: { says: 'FUSE', isThere: () => existsSync('/dev/fuse') },
  devices: { says: 'the right to make devices', isThere: () => hasCapability(27) },
  'watch-limits': { says: 'the right to lower the limit of watches', isThere: mayLimitWatches },
  ipv6: { says: 'an IPv6 loopback address', isThere: hasIpv6 },
  debian: { says: 'the package database of Debian', isThere: () => existsSync('/var/lib/dpkg/info') },
} as const satisfies Readonly<Record<string, { readonly says: string; readonly isThere: () => boolean }>>

export type Need = Program | keyof typeof ABILITIES

/** Other systems and other vendors have it by these names. */
const OTHER_NAMES: Partial<Record<Program, readonly string[]>> = { chromium: ['chromium-browser', 'google-chrome'] }

/** Some tests change PATH for a while. Debian has programs of an administrator, and each version of PostgreSQL, in places of their own. */
const { PATH = '' } = process.env
const PLACES = [...PATH.split(delimiter), '/usr/sbin', ...globSync('/usr/lib/postgresql/*/bin')]

/** Returns the file of a program on PATH; undefined when it is missing. */
export function findProgram(program: string): string | undefined {
  const names = [program, ...(isProgram(program) ? (OTHER_NAMES[program] ?? []) : [])]
  return PLACES.flatMap((directory) => names.map((name) => join(directory, name))).find(isExecutable)
}

export function missingOf<Wanted extends Need>(needs: readonly Wanted[]): Wanted[] {
  return needs.filter((need) => (isProgram(need) ? findProgram(need) === undefined : !abilityOf(need)?.isThere()))
}

/** Returns the packages of Debian that bring these programs, each once. */
export function packagesOf(programs: readonly Program[]): string[] {
  return [...new Set(programs.flatMap((program) => PACKAGES_OF[program]))].sort()
}

const NOTE = 'needs '

/** Returns why a test was left out, as its result keeps it. */
export function noteOf(missing: readonly string[]): string {
  return `${NOTE}${missing.join(', ')}`
}

/** The lines that end a run in which tests with these notes were left out. */
export function describeMissing(notes: readonly (string | undefined)[]): string[] {
  const lacking = notes.flatMap((note) => (note?.startsWith(NOTE) ? [note.slice(NOTE.length).split(', ')] : []))
  if (lacking.length === 0) return []
  const counts = Map.groupBy(lacking.flat(), (need) => need)
  const names = [...counts.keys()].sort()
  const says = (name: string) => abilityOf(name)?.says ?? name
  const width = Math.max(...names.map((name) => says(name).length))
  const programs = names.filter(isProgram)
  return [
    `${count(lacking.length, 'test')} left out for what is missing here:`,
    ...names.map((name) => `  ${says(name).padEnd(width)}  needed by ${count(counts.get(name)?.length ?? 0, 'test')}`),
    ...(programs.length === 0
      ? []
      : [`Install the programs: apt-get install --no-install-recommends ${packagesOf(programs).join(' ')}`]),
  ]
}

/** Capabilities of Linux have numbers: 21 is CAP_SYS_ADMIN, 27 CAP_MKNOD. In many containers root lacks them. */
function hasCapability(number: number): boolean {
  try {
    const [, effective = '0'] = /^CapEff:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return ((BigInt(`0x${effective}`) >> BigInt(number)) & 1n) === 1n
  } catch {
    return false // not Linux
  }
}

/** Each user name space has its own limit, which its creator may set. */
function mayLimitWatches(): boolean {
  return spawnSync('unshare', ['-Ur', 'sh', '-c', 'echo 10 > /proc/sys/user/max_inotify_watches']).status === 0
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))
}

function abilityOf(need: string): (typeof ABILITIES)[keyof typeof ABILITIES] | undefined {
  return Object.entries(ABILITIES).find(([name]) => name === need)?.[1]
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

function isProgram(name: string): name is Program {
  return name in PACKAGES_OF
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
