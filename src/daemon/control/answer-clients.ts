import { Mutex } from '../../foundation/concurrency/mutex.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { pauseMirrors, resumeMirrors } from '../../sync/pause.ts'
import { retryContents, setContentsAside } from '../../sync/quarantine.ts'
import type { Supervisor } from '../supervisor.ts'
import { CLIENT_LOG_MESSAGES } from './client-log-messages.ts'
import type { ControlHandlers } from './handlers.ts'
import { syncBeside } from './sync-beside.ts'

interface Daemon {
  /** The current supervisor; a reload replaces it. */
  supervisor(): Supervisor
  status(): DaemonStatus
  reload(): Promise<void>
  forget(name: string): Promise<string>
  /** Returns an address of the dashboard that signs in one browser, once. */
  dashboard(): Promise<string>
}

/** The handlers for commands that find the daemon running. */
export function answerClients(daemon: Daemon): ControlHandlers {
  const mutex = new Mutex()
  return {
    status: async () => daemon.status(),
    sync: async (request, run) => {
      using _lock = await mutex.lock()
      const supervisor = daemon.supervisor()
      return supervisor.host(() => syncBeside(supervisor, request, run))
    },
    pause: async (names) => {
      const supervisor = daemon.supervisor()
      pauseMirrors(supervisor.engine.store, names)
      supervisor.applyPauses()
      supervisor.engine.logger.info(CLIENT_LOG_MESSAGES.pause, { mirrors: namesOf(names) })
    },
    resume: async (names) => {
      const supervisor = daemon.supervisor()
      resumeMirrors(supervisor.engine.store, names)
      supervisor.applyPauses()
      supervisor.engine.logger.info(CLIENT_LOG_MESSAGES.resume, { mirrors: namesOf(names) })
    },
    retry: async (contentIds) => {
      const supervisor = daemon.supervisor()
      const count = retryContents(supervisor.engine.store, contentIds)
      for (const controller of supervisor.controllers) controller.wake()
      return count
    },
    ignore: async (contentIds) => setContentsAside(daemon.supervisor().engine.store, contentIds),
    forget: (name) => daemon.forget(name),
    dashboard: () => daemon.dashboard(),
    library: () => daemon.supervisor().plan.lendLibrary(),
    reload: async () => {
      await daemon.reload()
      return { mirrors: daemon.supervisor().controllers.map(({ name }) => name) }
    },
  }
}

function namesOf(names: readonly string[]): readonly string[] | 'all' {
  return names.length === 0 ? 'all' : names
}
