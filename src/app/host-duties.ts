import PQueue from 'p-queue'
import { connectToDaemon } from '../daemon/control/client/connect-to-daemon.ts'
import { systemClock } from '../foundation/clock.ts'
import { messageOf, UsageError } from '../foundation/errors.ts'
import type { HostOrder } from '../ledger/ledger.ts'
import type { Store } from '../store/open-store.ts'
import type { StateReader } from '../sync/reading/state-reader.ts'
import type { HostDuties } from './fleet.ts'
import { mirrorActions } from './mirror-actions.ts'
import { listForOverview } from './mirrors/mirror-roster.ts'
import type { OpenServiceInput } from './service-client/open-service.ts'
import type { Settings } from './settings/settings.ts'

/** Syncs that others ordered. */
const ORDERS_AT_ONCE = 4

interface DutiesInput extends OpenServiceInput {
  readonly store: Store
  readonly reader: StateReader
}

/** Publishes the state of the daemon's mirrors, and carries out orders of other hosts. */
export function dutiesOfDaemon(settings: Settings, { store, reader, ...input }: DutiesInput): HostDuties {
  const { stateDir, fleet } = settings
  const { logger, signal } = input
  const actions = mirrorActions({ ...input, stateDir, settings: () => settings })
  const underWay = new Set<string>()
  const turns = new PQueue({ concurrency: ORDERS_AT_ONCE })
  const carryOut = async ({ kind, mirror }: HostOrder) => {
    logger.info('an order from another host', { order: kind, mirror: mirror ?? 'all' })
    const names = mirror === null ? [] : [mirror]
    const listed = listForOverview(settings, store.mirrors.list())
    // On the command line a word may also be a directory.
    if (mirror !== null && !listed.some(({ name }) => name === mirror))
      throw new UsageError('unknown-mirror', 'this host has no such mirror')
    await (kind === 'sync' ? actions.sync(names, signal) : actions[kind](names))
  }
  return {
    onOrder: (order) => {
      const text = JSON.stringify(order)
      if (underWay.has(text)) return
      underWay.add(text)
      const take = async () => {
        try {
          if (!signal.aborted) await carryOut(order)
        } catch (error) {
          if (signal.aborted) return
          const fields = { order: order.kind, mirror: order.mirror ?? 'all', reason: messageOf(error) }
          logger.warn('cannot carry out an order from another host', fields)
        } finally {
          underWay.delete(text)
        }
      }
      // Holding uploads back waits for no sync.
      void (order.kind === 'sync' ? turns.add(take) : take())
    },
    readPublished: async () => {
      const daemon = await connectToDaemon(stateDir)
      return reader.read('published', {
        daemon: (await daemon?.status()) ?? null,
        listed: listForOverview(settings, store.mirrors.list()),
        nowMs: systemClock.nowMs(),
        namesPaths: fleet?.publish === 'names',
      })
    },
  }
}
