import { z } from 'zod'
import { errorCodes } from '../../foundation/errors.ts'

/** Why nothing is sent although there may be something. */
const holdCodes = ['paused', 'maintenance', 'scheduled'] as const

const timeMs = z.number().nullable()
const errorReason = z.object({ code: z.enum(errorCodes), message: z.string() })

/** What is done for one mirror now; times are wall clock. */
export const controllerStatus = z.object({
  /** `halted`: an operator must act; `waiting`: it continues by itself. */
  state: z.enum(['starting', 'scanning', 'idle', 'sending', 'waiting', 'held', 'halted']),
  /** Why it is waiting, held or halted, and what resolves that. */
  reason: errorReason.extend({ code: z.enum([...errorCodes, ...holdCodes]) }).nullable(),
  /** What announces changes; null until it watches, and for a mirror that is not watched. */
  watcher: z.enum(['node', 'parcel', 'chokidar', 'poll']).nullable(),
  /** The system allows no more watches: the mirror is scanned every `pollInterval` instead. */
  isWatchLimited: z.boolean(),
  /** Changed files that have not rested for the mirror's `settle` yet. */
  settling: z.number(),
  /** Changes since the daemon started that only a scan found. */
  missedByWatcher: z.number(),
  lastScanAt: timeMs,
  /** When last everything that was to be sent was sent. */
  lastSuccessAt: timeMs,
  nextScanAt: timeMs,
})

/** Whether the service answers, and since when (wall clock). */
export const serviceStatus = z.object({
  state: z.enum(['unasked', 'connected', 'away', 'refused']),
  sinceMs: z.number(),
  reason: errorReason.nullable(),
})

export type HoldCode = (typeof holdCodes)[number]
export type ControllerStatus = Readonly<z.infer<typeof controllerStatus>>
export type ControllerState = ControllerStatus['state']
export type WaitReason = Readonly<NonNullable<ControllerStatus['reason']>>
export type ServiceStatus = Readonly<z.infer<typeof serviceStatus>>
