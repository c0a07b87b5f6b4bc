import { join } from 'node:path'
import { expect } from 'vitest'
import type { RunSummary } from '../../src/rules/sync-summary.ts'
import { COMPILE_CACHE } from './compile-cache.ts'
import { type Around, type Running, runHere, runShelfd, startShelfd } from './run-shelfd.ts'
import { type Tree, temporaryDirectory, writeTree } from './temporary.ts'

/** What a run of the program left behind. */
export interface Outcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Variables = Readonly<Record<string, string>>

/** A clean home directory for one test, with everything shelfd keeps inside it. */
export interface Home {
  readonly path: string
  readonly stateDir: string
  readonly dataDir: string
  readonly env: Variables
  /** Writes a tree below the home directory. */
  write(name: string, tree: Tree): string
  /** The program in this process: quick, and all of it but main.ts. */
  shelfd(args: readonly string[], env?: Variables): Promise<Outcome>
  /** The program as users run it: a process of its own. */
  run(args: readonly string[], env?: Variables): Promise<Outcome>
  /** Starts the program as users run it; the test kills it in the end. */
  start(args: readonly string[], around?: Partial<Around>): Running
  /** What a command prints with --json, in this process. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has a shape of its own
  json(args: readonly string[], env?: Variables): Promise<any>
  /** `sync --json` in this process. */
  sync(args: readonly string[], env?: Variables): Promise<Synced>
}

export interface Synced extends Outcome {
  readonly summary: RunSummary
  /** The account of the only mirror. */
  readonly mirror: RunSummary['mirrors'][number]
}

/** With a service, everything runs against it instead of the embedded library of the home. */
export function temporaryHome(service?: { readonly url: string; readonly token: string }): Home {
  return homeIn(temporaryDirectory(), service)
}

/** Makes a temporary home that has the directory "Papers" with these files. */
export function homeWithPapers(papers: Tree, service?: Parameters<typeof temporaryHome>[0]): Home {
  const home = temporaryHome(service)
  home.write('Papers', papers)
  return home
}

/** The same in a directory that the caller removes, for what the tests of a file share. */
export function homeIn(path: string, service?: { readonly url: string; readonly token: string }): Home {
  const env = { ...(service && variablesOf(service)), ...homeVariables(path) }
  const shelfd: Home['shelfd'] = (args, more = {}) => runHere(args, { SHELFD_CHECKERS: '1', ...env, ...more }, path)
  return {
    path,
    env,
    stateDir: join(path, 'state', 'shelfd'),
    dataDir: join(path, 'data', 'shelfd', 'library'),
    write: (name, tree) => writeTree(join(path, name), tree),
    shelfd,
    start: (args, { env: more, ...around } = {}) =>
      startShelfd(args, { env: { ...env, ...more }, cwd: path, ...around }),
    run: (args, more = {}) => runShelfd(args, { env: { ...env, ...more }, cwd: path }).ended,
    json: async (args, more) => {
      const { exitCode, stdout, stderr } = await shelfd([...args, '--json'], more)
      if (stdout === '') throw new Error(`${args.join(' ')} printed nothing and ended ${exitCode}: ${stderr}`)
      return JSON.parse(stdout)
    },
    sync: async (args, more) => readSynced(await shelfd(['sync', ...args, '--json'], more)),
  }
}

/** The variables of a process whose home directory this is; everything that shelfd keeps lies below it. */
export function homeVariables(path: string) {
  return {
    HOME: path,
    PATH: process.env.PATH ?? '',
    XDG_CONFIG_HOME: join(path, 'config'),
    XDG_STATE_HOME: join(path, 'state'),
    XDG_DATA_HOME: join(path, 'data'),
    XDG_CACHE_HOME: join(path, 'cache'),
    // Its model takes seconds and 210 MB; tests of meaning name another one.
    SHELFD_EMBEDDER: 'none',
    // Compiled once for all tests.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    // What this machine is configured for is none of the tests' business.
    SHELFD_NO_SYSTEM_CONFIG: '1',
    // Tests are run by root as well.
    SHELFD_ALLOW_ROOT: '1',
  }
}

/** The configuration of a service as variables. */
export function variablesOf(service: { readonly url: string; readonly token: string }): Variables {
  return { SHELFD_SERVICE_URL: service.url, SHELFD_TOKEN: service.token, SHELFD_FIRST_POLL: '5ms' }
}

/** Expects a command to end with this exit code and this text on stderr; returns its outcome. */
export function expectExit<Ended extends Outcome>(
  ended: Ended,
  exitCode: number,
  text: string | RegExp,
  label = '',
): Ended {
  const stderr = typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)
  expect({ exitCode: ended.exitCode, stderr: ended.stderr }, label).toEqual({ exitCode, stderr })
  return ended
}

/** Expects a message to name these parts in this order, and nothing that only a programmer reads. */
export function expectParts(message: string, parts: readonly string[]): void {
  let from = 0
  for (const part of parts) {
    const at = message.indexOf(part, from)
    expect(at, `"${part}" after character ${from} of: ${message}`).toBeGreaterThanOrEqual(0)
    from = at
  }
  expect(message).not.toMatch(/\n +at |undefined|\[object|\b(?:ERR|UND|HPE)_|\bE[A-Z]{4,}\b/)
}

function readSynced(outcome: Outcome): Synced {
  if (outcome.stdout === '') throw new Error(`No summary, exit ${outcome.exitCode}: ${outcome.stderr}`)
  const summary: RunSummary = JSON.parse(outcome.stdout)
  const mirror = summary.mirrors[0]
  if (!mirror) throw new Error('The summary has no mirror')
  return { ...outcome, summary, mirror }
}
