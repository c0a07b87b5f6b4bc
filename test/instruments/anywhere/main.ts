/** `npm run test:anywhere`: `npm ci && npm test` of the last commit on machines and in accounts unlike this one. Needs root on Linux. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { z } from 'zod'
import { PROJECT } from '../../support/compiled-program.ts'
import { findProgram, missingOf } from '../../support/programs.ts'
import { describeMachine, flag, print, runInstrument, stopSignal, wholeNumber } from '../instrument.ts'
import { ROWS, type Row } from './rows.ts'

const NAMES = ROWS.map(({ name }) => name)

const OPTIONS = z.object({
  row: z
    .array(z.enum(NAMES))
    .default([])
    .describe(`only these, of ${NAMES.join(', ')}`),
  times: wholeNumber(1, 1_000).default(1).describe('runs of each row'),
  keepLogs: flag().describe('leave what npm printed in the temporary directory'),
})

/** The user of a row: /etc/passwd has it within the row alone. */
const USER = { name: 'ada', id: 54_545 }
/** What a machine with npm and git has beside the essential packages of Debian. */
const BESIDE = ['node', 'npm', 'npx', 'git']
const PROGRAM_DIRECTORIES = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/usr/games',
  '/sbin',
  '/bin',
]

/** What the end of `npm test` needs at most where all is well, and where it is not. */
const SUMMARY_LINES = 50
const FAILURE_LINES = 200

interface Outcome {
  readonly seconds: number
  readonly isDone: boolean
  readonly log: string
}

/** What is in place while a row runs. */
interface Place {
  readonly base: string
  readonly home: string
  readonly checkout: string
  readonly env: Readonly<Record<string, string>>
}

await runInstrument('test:anywhere', OPTIONS, async ({ row: wanted, times, keepLogs }) => {
  const missing = missingOf(['root', 'mounts', 'debian', 'mount', 'unshare', 'setpriv'])
  if (missing.length > 0)
    throw new Error(`This takes root on Debian, with mount and util-linux; missing: ${missing.join(', ')}`)
  print(describeMachine())
  const rows = ROWS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  const results: boolean[] = []
  for (const row of rows) {
    for (let time = 0; time < times; time += 1) results.push(await runRow(row, keepLogs))
  }
  const failed = results.filter((isDone) => !isDone).length
  print(`${results.length - failed} of ${results.length} runs passed`)
  return failed === 0
})

async function runRow(row: Row, keepsLog: boolean): Promise<boolean> {
  const place = prepare(row)
  const log = join(place.base, 'log')
  const running: ChildProcess[] = []
  try {
    const installed = await runIn(row, place, log, 'npm ci --prefer-offline --no-audit --no-fund')
    if (!installed.isDone) return report(row, [installed], place, keepsLog)
    if (row.hasDaemon) running.push(start(row, place, 'node_modules/.bin/node src/main.ts daemon', 'ignore'))
    for (let loop = 0; loop < (row.load ?? 0) * navigator.hardwareConcurrency; loop += 1)
      running.push(spawn(process.execPath, ['-e', 'for (;;);'], { detached: true, stdio: 'ignore' }))
    return report(row, [installed, await runIn(row, place, log, 'npm test')], place, keepsLog)
  } finally {
    for (const { pid } of running) killGroup(pid)
    if (row.place === 'other-disk') spawnSync('umount', ['--lazy', join(place.base, 'disk')])
    if (!keepsLog) rmSync(place.base, { recursive: true, force: true, maxRetries: 5 })
  }
}

function report(row: Row, outcomes: readonly Outcome[], { base }: Place, keepsLog: boolean): boolean {
  const [installed, tested] = outcomes
  const isDone = outcomes.every((outcome) => outcome.isDone)
  print(`\n== ${row.name}: ${row.says}`)
  print(`npm ci ${installed?.seconds} s, npm test ${tested?.seconds ?? '-'} s${keepsLog ? `, ${base}/log` : ''}`)
  const lines = (tested ?? installed)?.log.split('\n') ?? []
  print(
    lines
      .slice(isDone ? -SUMMARY_LINES : -FAILURE_LINES)
      .join('\n')
      .trim(),
  )
  return isDone
}

/** Makes the user's home directory and the checkout, which nobody else can read. */
function prepare(row: Row): Place {
  const base = mkdtempSync(join(tmpdir(), 'shelfd-anywhere-'))
  chmodSync(base, 0o755)
  const disk = join(base, 'disk')
  for (const name of ['layers', 'disk', 'closed']) mkdirSync(join(base, name))
  chmodSync(join(base, 'closed'), 0o700)
  if (row.place === 'other-disk') execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'tmpfs', disk])
  const home = join(base, 'home')
  const checkout = join(
    row.place === 'other-disk' ? disk : home,
    row.place === 'odd-path' ? 'Für mich/a checkout' : 'x',
  )
  mkdirSync(home, { mode: 0o700 })
  mkdirSync(dirname(checkout), { recursive: true })
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', PROJECT, checkout])
  copyOwnNpm(home)
  if (row.isConfigured) writeConfiguration(join(home, '.config', 'shelfd'), home)
  const paths = [...PROGRAM_DIRECTORIES, ...BESIDE.map((name) => dirname(findProgram(name) ?? name))]
  if (row.node) paths.unshift(installNode(row.node, base))
  if (row.hasClosedPath) paths.unshift(join(base, 'closed'))
  if (row.programs === 'bare') writeFileSync(join(base, 'left-out'), listLeftOut(row).join('\n'))
  if (row.user === 'ordinary') execFileSync('chown', ['-R', `${USER.id}:${USER.id}`, home])
  const env = { HOME: home, USER: row.user === 'root' ? 'root' : USER.name, PATH: [...new Set(paths)].join(delimiter) }
  return { base, home, checkout, env: { ...env, ...row.env } }
}

/** The registry and the cache of this account, so that nothing is fetched again. */
function copyOwnNpm(home: string): void {
  for (const name of ['.npmrc', '.npm']) {
    const own = join(homedir(), name)
    if (existsSync(own)) cpSync(own, join(home, name), { recursive: true })
  }
}

/** A configuration that would fail every test that reads it. */
function writeConfiguration(directory: string, home: string): void {
  mkdirSync(directory, { recursive: true })
  mkdirSync(join(home, 'Theirs'), { recursive: true })
  writeFileSync(join(home, 'Theirs', 'a.md'), 'Of somebody else.\n')
  writeFileSync(
    join(directory, 'config.yaml'),
    `mirrors:\n  - path: ${JSON.stringify(join(home, 'Theirs'))}\n    library: Theirs\n`,
  )
}

/** Returns the directory with the program of this version. */
function installNode(major: number, base: string): string {
  const prefix = join(base, `node-${major}`)
  const name = `node-linux-${process.arch}`
  execFileSync('npm', ['install', '--prefix', prefix, '--no-save', '--silent', `${name}@${major}`])
  return join(prefix, 'node_modules', name, 'bin')
}

/** Programs that neither an essential package of Debian brings nor npm and git are. */
function listLeftOut({ node }: Row): string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are of dpkg
  const shown = execFileSync('dpkg-query', ['--show', '--showformat=${Essential} ${Package}\\n'], { encoding: 'utf8' })
  const essential = shown.split('\n').flatMap((line) => (line.startsWith('yes ') ? [line.slice(4)] : []))
  const files = execFileSync('dpkg-query', ['--listfiles', ...essential], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const kept = new Set([...files.split('\n').map((path) => basename(path)), ...BESIDE.slice(node ? 1 : 0)])
  const directories = [...PROGRAM_DIRECTORIES, ...globSync('/usr/lib/postgresql/*/bin')].filter(existsSync)
  const real = new Set(directories.map((directory) => realpathSync(directory)))
  return [...real].flatMap((directory) =>
    globSync('*', { cwd: directory })
      .filter((name) => !kept.has(name))
      .map((name) => join(directory, name)),
  )
}

/** Runs a command in the checkout as the user of the row. */
async function runIn(row: Row, place: Place, log: string, command: string): Promise<Outcome> {
  const beganMs = performance.now()
  const child = start(row, place, command, 'pipe')
  const file = createWriteStream(log, { flags: 'a' })
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(file, { end: false })
  const stop = () => killGroup(child.pid)
  const signal = stopSignal()
  signal.addEventListener('abort', stop)
  const [exitCode] = await once(child, 'close')
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  await new Promise((resolve) => file.end(resolve))
  return {
    seconds: Math.round((performance.now() - beganMs) / 1_000),
    isDone: exitCode === 0,
    log: readFileSync(log, 'utf8'),
  }
}

/** In mounts that it alone sees: a layer over /etc with the user, one over /usr without the programs, and where wanted a network of its own. */
function start(row: Row, { base, checkout, env }: Place, command: string, output: 'pipe' | 'ignore'): ChildProcess {
  const layer = (directory: string) => {
    const [upper, work] = ['upper', 'work'].map((name) => `${base}/layers/${basename(directory)}-${name}`)
    return `mkdir ${upper} ${work} && mount -t overlay overlay -o lowerdir=${directory},upperdir=${upper},workdir=${work} ${directory}`
  }
  const isAlone = row.hasNoIpv6 && command === 'npm test'
  const script = [
    'set -e',
    `mount -t tmpfs -o mode=0755 tmpfs ${base}/layers`,
    layer('/etc'),
    `echo '${USER.name}:x:${USER.id}:${USER.id}::${base}/home:/bin/sh' >> /etc/passwd`,
    `echo '${USER.name}:x:${USER.id}:' >> /etc/group`,
    ...(row.isConfigured ? [`mkdir -p /etc/shelfd && cp ${base}/home/.config/shelfd/config.yaml /etc/shelfd`] : []),
    ...(isAlone ? ['ip link set lo up', 'echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6'] : []),
    ...(row.programs === 'bare' ? [layer('/usr'), `xargs -d '\\n' rm -rf < ${base}/left-out`] : []),
    `umask ${row.umask ?? '022'}`,
    'cd "$0"',
    row.user === 'root'
      ? 'exec sh -c "$1"'
      : `exec setpriv --reuid=${USER.id} --regid=${USER.id} --clear-groups sh -c "$1"`,
  ]
  const options = ['--mount', '--propagation', 'private', ...(isAlone ? ['--net'] : [])]
  return spawn('unshare', [...options, '--', 'sh', '-c', script.join('\n'), checkout, command], {
    ...{ cwd: '/', env, detached: true, stdio: ['ignore', output, output] },
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
