import { type OpenedEngine, openEngine } from '../../../../src/app/open-engine.ts'
import { readSettings } from '../../../../src/app/settings/read-settings.ts'
import { silentLogger } from '../../../../src/foundation/logger.ts'
import { createRedactor } from '../../../../src/foundation/text/redaction.ts'
import { openRoot } from '../../../../src/local/read/open-and-recheck-root.ts'
import { emptySummary, type SyncSummary } from '../../../../src/rules/sync-summary.ts'
import type { MirrorSettings, OpenMirror } from '../../../../src/sync/engine.ts'
import { openMirror } from '../../../../src/sync/pin/open-mirror.ts'

/** Where a child of the benchmark works, as its first argument in JSON. */
export interface ChildInput {
  readonly tree: string
  readonly stateDir: string
  readonly serviceUrl: string
  readonly transfers: number
  /** A configuration, for what the rest does not say. */
  readonly configFile?: string
}

export interface ChildMeasure {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly files: number
}

/** The engine as `sync` composes it, with a mirror that is pinned. */
export interface BenchEngine extends OpenedEngine {
  readonly mirror: OpenMirror
  readonly summary: SyncSummary
}

export async function openBenchEngine(input: ChildInput): Promise<BenchEngine> {
  const around = { env: { SHELFD_TOKEN: 'bench' }, cwd: input.tree, home: input.stateDir }
  const { stateDir, serviceUrl, transfers, configFile: config } = input
  const flags = { 'state-dir': stateDir, 'service-url': serviceUrl, transfers: String(transfers), config }
  const unlimited = { 'max-new': 'none', 'max-new-per-day': 'none', 'in-ingestion': '5000' }
  const settings = readSettings({
    ...{ ...around, flags: { ...flags, ...unlimited } },
    ...(config === undefined && { readFile: () => undefined }),
  })
  const { signal } = new AbortController()
  const opened = openEngine(settings, { ...around, logger: silentLogger, redactor: createRedactor(), signal })
  const { engine } = opened
  const runId = engine.store.write(() => engine.store.runs.begin(engine.clock.nowMs()))
  const options = {
    waitMs: 0,
    hashEverything: false,
    isDryRun: false,
    acceptsRemovals: false,
    // An earlier run has made the directories.
    adopts: true,
    acceptsRoot: false,
    acceptsBreadth: false,
    minAgeMs: null,
  }
  const mirrorSettings = mirrorOf(input.tree)
  const mirror = await openMirror(engine, mirrorSettings, openRoot(engine.fs, input.tree), { runId, options })
  const summary = emptySummary({ ...mirrorSettings, library: { id: 'bench', name: 'Bench' } })
  return { ...opened, mirror, summary }
}

function mirrorOf(path: string): MirrorSettings {
  const plain = {
    ignore: [],
    include: [],
    maxSizeBytes: null,
    oneFileSystem: false,
    emptyFiles: 'upload',
    isAdHoc: true,
    settleMs: 5_000,
    breadth: null,
  } as const
  return { name: 'bench', path, library: 'Bench', mayCreateLibrary: false, remotePath: '/bench', ...plain }
}

export function readInput(): ChildInput {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** Measures `work` and prints it as the child's result. */
export async function printMeasure(work: () => Promise<number>): Promise<void> {
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  const files = await work()
  const seconds = (performance.now() - startMs) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  const measure: ChildMeasure = { seconds, cpuSeconds: (user + system) / 1e6, files }
  process.stdout.write(JSON.stringify(measure))
}
