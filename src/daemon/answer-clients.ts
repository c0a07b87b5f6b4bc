import { Turns } from '../foundation/turns.ts'
import { pauseMirrors, resumeMirrors } from '../sync/pause.ts'
import { retryContents, setContentsAside } from '../sync/quarantine.ts'
import { CLIENT_DID } from './client-did.ts'
import type { ControlHandlers } from './control/handlers.ts'
import type { Crew } from './crew.ts'
import type { DaemonStanding } from './standing.ts'
import { syncBeside } from './sync-beside.ts'

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
      const crew = daemon.crew()
      pauseMirrors(crew.engine.store, names)
      crew.applyPauses()
      crew.engine.logger.info(CLIENT_DID.pause, { mirrors: namesOf(names) })
    },
    resume: async (names) => {
      const crew = daemon.crew()
      resumeMirrors(crew.engine.store, names)
      crew.applyPauses()
      crew.engine.logger.info(CLIENT_DID.resume, { mirrors: namesOf(names) })
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

function namesOf(names: readonly string[]): readonly string[] | 'all' {
  return names.length === 0 ? 'all' : names
}
