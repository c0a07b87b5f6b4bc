import { z } from 'zod'
import { errorCodes } from '../../foundation/errors.ts'

/** The reasons to hold back uploads. */
const holdCodes = ['paused', 'maintenance', 'scheduled'] as const

const timeMs = z.number().nullable()
const errorReason = z.object({ code: z.enum(errorCodes), message: z.string() })

/** The status of one mirror controller; times are wall clock. */
export const controllerStatus = z.object({
  /** `halted`: an operator must act; `waiting`: the controller continues by itself. */
  state: z.enum(['starting', 'scanning', 'idle', 'sending', 'waiting', 'held', 'halted']),
  /** Why the mirror is waiting, held or halted, and what resolves that. */
  reason: errorReason.extend({ code: z.enum([...errorCodes, ...holdCodes]) }).nullable(),
  /** The back end that reports changes; null before watching begins, and for a mirror that is not watched. */
  watcher: z.enum(['node', 'chokidar', 'poll']).nullable(),
  /** The system allows no more watches: the mirror is scanned every `pollInterval` instead. */
  isWatchLimited: z.boolean(),
  /** Changed files that are not settled yet. */
  settling: z.number(),
  /** Changed files since the daemon started that only a scan found. */
  missedByWatcher: z.number(),
  lastScanAt: timeMs,
  /** When the mirror last had nothing left to upload. */
  lastSuccessAt: timeMs,
  nextScanAt: timeMs,
})

/** The state of the service, and since when (wall clock). */
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
