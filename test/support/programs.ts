/** The programs of the system that tests use, beyond npm, git, sh and coreutils: `needs.ts` leaves out the tests that lack one. */
import { accessSync, constants, globSync } from 'node:fs'
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

export function missingOf(programs: readonly Program[]): Program[] {
  return programs.filter((program) => findProgram(program) === undefined)
}

/** Returns the packages of Debian that bring these programs, each once. */
export function packagesOf(programs: readonly Program[]): string[] {
  return [...new Set(programs.flatMap((program) => PACKAGES_OF[program]))].sort()
}

const NOTE = 'needs '

/** Returns why a test was left out, as its result keeps it. */
export function noteOf(missing: readonly Program[]): string {
  return `${NOTE}${missing.join(', ')}`
}

/** The lines that end a run in which tests with these notes were left out. */
export function describeMissing(notes: readonly (string | undefined)[]): string[] {
  const lacking = notes.flatMap((note) =>
    note?.startsWith(NOTE) ? [note.slice(NOTE.length).split(', ').filter(isProgram)] : [],
  )
  if (lacking.length === 0) return []
  const counts = Map.groupBy(lacking.flat(), (program) => program)
  const names = [...counts.keys()].sort()
  const width = Math.max(...names.map(({ length }) => length))
  return [
    `${count(lacking.length, 'test')} left out for programs that are missing here:`,
    ...names.map((name) => `  ${name.padEnd(width)}  needed by ${count(counts.get(name)?.length ?? 0, 'test')}`),
    `Install them: apt-get install --no-install-recommends ${packagesOf(names).join(' ')}`,
  ]
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
