/** A root directory with the essential packages of Debian and nothing else: no Node, no npm, no checkout. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What nobody needs to run a program. */
const LEFT_OUT = /^\/(?:\.$|usr\/share\/(?:doc|doc-base|info|locale|man|bug|lintian)\/|usr\/lib\/locale\/)/

/**
 * Copies what the installed packages of this machine consist of: those that Debian calls essential, the named ones, and what
 * all of them depend on. dpkg knows them there as installed.
 */
export function makeCleanRoot(root: string, named: readonly string[]): void {
  const packages = closeOver(named)
  const info = globSync(
    packages.flatMap((name) => [`${name}.list`, `${name}:*.list`]),
    { cwd: '/var/lib/dpkg/info' },
  )
  for (const name of ['dev', 'proc', 'run', 'tmp', 'etc', 'var/lib/dpkg/info', 'var/lib/dpkg/updates', 'var/log']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  chmodSync(join(root, 'tmp'), 0o1777)
  copyPaths(execFileSync('dpkg-query', ['--listfiles', ...packages], QUIETLY).split('\n'), root)
  for (const name of info) copyFileSync(join('/var/lib/dpkg/info', name), join(root, 'var/lib/dpkg/info', name))
  writeFileSync(join(root, 'var/lib/dpkg/status'), execFileSync('dpkg', ['--status', ...packages], QUIETLY))
  for (const name of ['passwd', 'group']) {
    copyFileSync(`/usr/share/base-passwd/${name}.master`, join(root, 'etc', name))
  }
  execFileSync('ldconfig', ['-r', root])
}

const QUIETLY = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const

interface InsideOptions {
  /** A user of that root; root by default. */
  readonly user?: string
  readonly env?: Readonly<Record<string, string>>
  /** Nothing of that root can be written apart from /tmp and these directories, which are empty and belong to the user alone. */
  readonly volumes?: readonly string[]
}

export interface InsideOutcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in that root, with these variables and a search path. */
export function runInside(root: string, command: readonly string[], options: InsideOptions = {}): InsideOutcome {
  const { status, stdout, stderr } = spawnSync('unshare', enter(root, command, options), {
    ...spawnOptions(options),
    ...QUIETLY,
  })
  return { exitCode: status, stdout, stderr }
}

/** Starts a program in that root that runs until it is stopped; the signal for that goes to the program alone. */
export function startInside(root: string, command: readonly string[], options: InsideOptions = {}): ChildProcess {
  return spawn('unshare', enter(root, command, options), {
    ...spawnOptions(options),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Returns the command that runs a program within the root, with mounts that it alone sees. */
function enter(root: string, command: readonly string[], options: InsideOptions): string[] {
  const { user = 'root', volumes } = options
  const readOnly = [
    'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t tmpfs -o mode=1777 none "$0/tmp"',
    ...(volumes ?? []).map((path) => `mount -t tmpfs -o "mode=0700,uid=\${id%:*},gid=\${id#*:}" none "$0${path}"`),
  ]
  const script = [
    'id=$(sed -n "s/^$1:[^:]*:\\\\([0-9]*:[0-9]*\\\\):.*/\\\\1/p" "$0/etc/passwd")',
    ...(volumes ? readOnly : []),
    'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev"',
    'root=$0; shift; exec chroot --userspec="$id" "$root" "$@"',
  ]
  return ['--mount', '--', 'sh', '-c', script.join(' && '), root, user, ...command]
}

function spawnOptions({ env = {} }: InsideOptions) {
  return { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', DEBIAN_FRONTEND: 'noninteractive', ...env } }
}

/** Names of installed packages, with all that they depend on. */
function closeOver(named: readonly string[]): string[] {
  const format = ['Package', 'Essential', 'db:Status-Status', 'Pre-Depends', 'Depends']
    .map((name) => `\${${name}}`)
    .join('\\t')
  const rows = execFileSync('dpkg-query', ['--show', `--showformat=${format}\\n`], QUIETLY).split('\n')
  const installed = new Map<string, string[]>()
  const wanted = [...named]
  for (const row of rows) {
    const [name = '', essential, status, ...depends] = row.split('\t')
    if (status !== 'installed') continue
    installed.set(name, depends.join(', ').match(/[a-z0-9][a-z0-9+.-]+(?=$|[\s,:(|])/g) ?? [])
    if (essential === 'yes') wanted.push(name)
  }
  const found = new Set<string>()
  for (const name of wanted) {
    if (found.has(name) || !installed.has(name)) continue
    found.add(name)
    wanted.push(...(installed.get(name) ?? []))
  }
  return [...found]
}

/** Copies single paths to the places that they really have, since /bin may be a link to /usr/bin. */
function copyPaths(paths: readonly string[], root: string): void {
  const places = new Map<string, string>()
  const placeOf = (path: string) => {
    const parent = dirname(path)
    if (!places.has(parent)) places.set(parent, realPlace(parent))
    return join(places.get(parent) ?? parent, path.slice(parent.length))
  }
  const all = new Set(paths.filter((path) => path.startsWith('/') && !LEFT_OUT.test(path)).map(placeOf))
  const links = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => realPlace(path) !== path)
  const list = [...links, ...all].map((path) => `.${path}`).join('\n')
  const options = ['--directory=/', '--no-recursion', '--ignore-failed-read', '--create', '--files-from=-']
  const packed = spawnSync('tar', options, { input: list, maxBuffer: 1024 ** 3, stdio: ['pipe', 'pipe', 'ignore'] })
  execFileSync('tar', ['--directory', root, '--extract', '--preserve-permissions'], { input: packed.stdout })
}

function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // some packages list files that the machine was made without
  }
}
