import { Lanes } from '../foundation/lanes.ts'
import { Turns } from '../foundation/turns.ts'
import { observeInThreads } from '../sync/observe/observe-in-threads.ts'
import { pauseMirrors, resumeMirrors } from '../sync/pause.ts'
import { retryContents, setContentsAside } from '../sync/quarantine.ts'
import { type RunResult, runSync } from '../sync/run-sync.ts'
import type { ControlHandlers, SyncRun } from './control/handlers.ts'
import type { SyncRequest } from './control/protocol.ts'
import type { Crew } from './crew.ts'
import type { DaemonStanding } from './standing.ts'

interface Daemon {
  /** Whoever works now: a reload replaces it. */
  crew(): Crew
  standing(): DaemonStanding
  reload(): Promise<void>
  forget(name: string): Promise<string>
}

/** What the daemon does for the commands that find it running. */
export function answerClients(daemon: Daemon): ControlHandlers {
  const turns = new Turns()
  return {
    status: async () => daemon.standing(),
    sync: async (request, run) => {
      using _turn = await turns.take()
      const crew = daemon.crew()
      return crew.host(() => syncBeside(crew, request, run))
    },
    pause: async (names) => {
      pauseMirrors(daemon.crew().engine.store, names)
      daemon.crew().applyPauses()
    },
    resume: async (names) => {
      resumeMirrors(daemon.crew().engine.store, names)
      daemon.crew().applyPauses()
    },
    retry: async (contentIds) => {
      const crew = daemon.crew()
      const count = retryContents(crew.engine.store, contentIds)
      for (const keeper of crew.keepers) keeper.wake()
      return count
    },
    ignore: async (contentIds) => setContentsAside(daemon.crew().engine.store, contentIds),
    forget: (name) => daemon.forget(name),
    library: () => daemon.crew().plan.lendLibrary(),
    reload: async () => {
      await daemon.reload()
      return { mirrors: daemon.crew().keepers.map(({ name }) => name) }
    },
  }
}

/** A run by hand over the line and the store of the crew, whose keepers of the same mirrors wait meanwhile. */
async function syncBeside(
  { keepers, engine, line }: Crew,
  { mirrors, limits, options }: SyncRequest,
  { signal, progress }: SyncRun,
): Promise<RunResult> {
  await using quiet = new AsyncDisposableStack()
  for (const { name } of mirrors) {
    const keeper = keepers.find((candidate) => candidate.name === name)
    if (keeper) quiet.use(await keeper.quiesce())
    const row = engine.store.mirrors.findByName(name)
    if (row) line.follower?.remove(row.id)
  }
  const ends = AbortSignal.any([engine.signal, signal])
  const lanes = new Lanes(limits.transfers)
  const observeTree = observeInThreads(limits.checkers)
  return await runSync({ ...engine, observeTree, limits, lanes, progress, signal: ends }, mirrors, options)
}
