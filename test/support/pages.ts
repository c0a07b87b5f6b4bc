/** Reads the commands that a page shows, and types them in a clean home. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attachDaemon, isIdle } from './daemon.ts'
import { MAIN, startHere, startShelfd } from './run-shelfd.ts'
import { temporaryDirectory, writeTree } from './temporary.ts'

/** A fenced block: commands with what they print, or a configuration. */
interface Block {
  readonly language: string
  readonly text: string
}

export interface Typed {
  readonly command: string
  /** What the page shows below it, or what was printed. */
  readonly output: string
}

/** The blocks of a page in these languages, in order. */
export function blocksOf(page: string, languages: readonly string[]): Block[] {
  const fences = page.matchAll(/^```(\w+)\n(.*?)^```$/gms)
  return [...fences].flatMap(([, language = '', text = '']) =>
    languages.includes(language) ? [{ language, text }] : [],
  )
}

/** The commands of a `console` block. */
export function commandsOf(text: string): Typed[] {
  return text.split(/^\$ /m).flatMap((part) => {
    const [command = '', ...lines] = part.split('\n')
    return command === '' ? [] : [{ command, output: lines.join('\n').trimEnd() }]
  })
}

const ACTIVITIES = [
  'opening the library',
  'starting',
  'waiting for .*?',
  'scanning',
  'creating directories',
  'uploading',
  'processing',
  'finishing',
  'embedding',
]
const PROGRESS = new RegExp(`^(?:\\w+ {2})?(?:${ACTIVITIES.join('|')}) {2}.*(?:\\n|$)`, 'gm')

/** Durations, sizes, times and identifiers differ from run to run, and columns are as wide as these. */
export function withoutChance(text: string): string {
  return (
    text
      .replaceAll(/\b[0-9a-f]{32}\b/g, 'ID')
      .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?/g, 'TIME')
      .replaceAll(/\b\d\d:\d\d(:\d\d)?\b/g, 'TIME')
      .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|min|KiB|MiB|GiB)\b|\b\d+[mh] \d\d[sm]\b/g, 'SOME')
      .replaceAll(/\bprocess \d+/g, 'process ID')
      .replaceAll(/\bjust now\b|\bSOME ago\b/g, 'RECENTLY')
      // How far a running daemon has come is chance; pages show the lines as a terminal wraps them.
      .replaceAll(/ Meaning\s+is\s+(?:not\s+)?considered\s[\s\S]*?(?:while they run\.|so far\.(?! The daemon))/g, '')
      // On a busy machine, a command that takes more than ten seconds says how far it is, and which documents it did not embed.
      .replaceAll(PROGRESS, '')
      .replaceAll(/^\d+ documents? (?:is|are) compared by meaning once .*(?:\n|$)/gm, '')
      .replaceAll(/ {2,}/g, '  ')
      .trimEnd()
  )
}

/** Somebody's home, as the pages have it: `/home/ada` with the directory `Papers`. */
export class PageHome {
  readonly path = temporaryDirectory()
  readonly #env: Readonly<Record<string, string>>

  constructor() {
    const bin = join(this.path, '.bin')
    mkdirSync(bin)
    for (const name of ['systemctl', 'journalctl']) writeProgram(join(bin, name), 'exit 0')
    writeProgram(join(bin, 'shelfd'), `exec "${process.execPath}" "${MAIN}" "$@"`)
    this.#env = {
      HOME: this.path,
      PATH: `${bin}:${process.env.PATH}`,
      SHELFD_NO_SYSTEM_CONFIG: '1',
      SHELFD_ALLOW_ROOT: '1',
      TZ: 'Europe/Berlin',
    }
    const papers = writeTree(join(this.path, 'Papers'), PAPERS)
    // Of two copies, a search names the one that was changed last.
    const now = new Date()
    for (const name of Object.keys(PAPERS)) utimesSync(join(papers, name), now, now)
  }

  /** Writes the configuration of a page. */
  configure(yaml: string): void {
    writeTree(join(this.path, '.config', 'shelfd'), { 'config.yaml': yaml })
  }

  /** Types a command, and returns what a terminal shows. Once the daemon is a service, it runs. */
  async type(command: string): Promise<{ readonly exitCode: number | null; readonly output: string }> {
    const [program, ...args] = splitCommand(command, this.path)
    const typed = await (program === 'shelfd' ? this.#inProcess(args) : this.#inShell(command))
    if (command.startsWith('shelfd service install')) await this.#startDaemon()
    return { exitCode: typed.exitCode, output: typed.output.replaceAll(this.path, '/home/ada').trimEnd() }
  }

  async #inProcess(args: readonly string[]) {
    const running = startHere(args, this.#env, this.path)
    const { exitCode } = await running.ended
    return { exitCode, output: running.output() }
  }

  async #inShell(command: string) {
    const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], {
      env: this.#env,
      cwd: this.path,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await once(child, 'close')
    return { exitCode: child.exitCode, output }
  }

  /** Takes the place of the service manager. */
  async #startDaemon(): Promise<void> {
    const running = startShelfd(['daemon'], { env: this.#env, cwd: this.path })
    const daemon = attachDaemon(running, join(this.path, '.local', 'state', 'shelfd'))
    // Between a scan and its uploads a daemon is idle, too.
    do await daemon.until('idle', isIdle)
    while (!/up to date (?:just now|.* ago)/.test((await this.type('shelfd status')).output))
  }
}

const TIDES = '# Tides\n\nThe spring tide follows the new moon by about two days.\n'

/** What the pages say that `Papers` holds. */
export const PAPERS = {
  'tides.md': TIDES,
  'copies/tides.md': TIDES,
  // Means nothing like the tides: whether meaning is considered already is chance.
  'moon.md': '# Moon\n\nOur cat, who is six years old.\n',
  '.env': 'TOKEN=1\n',
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

/** The words of a command line, for the simple ones of the pages; a shell does the rest. */
function splitCommand(command: string, home: string): string[] {
  if (/[|&;<>$]/.test(command)) return []
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare)
  return words.map((word) => word.replace(/^~(?=\/|$)/, home))
}

/** Reads a page of the project. */
export function readPage(page: string): string {
  return readFileSync(join(import.meta.dirname, '..', '..', page), 'utf8')
}
