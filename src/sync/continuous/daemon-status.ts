import { z } from 'zod'
import { controllerStatus, serviceStatus } from './controller-status.ts'

/** The status of one mirror; times are wall-clock milliseconds. */
const daemonMirrorStatus = z.object({
  name: z.string(),
  path: z.string(),
  ...controllerStatus.omit({ nextScanAt: true }).shape,
  /** The next planned scan or batch. */
  nextRunAt: z.number().nullable(),
})

/** The status of the whole daemon, for `status`, health, metrics and the service manager. */
export const daemonStatus = z.object({
  pid: z.int(),
  startedAt: z.number(),
  service: serviceStatus,
  /** The disk of the store is full: nothing is sent until there is room. */
  isStoreFull: z.boolean(),
  /** Uploads in flight, and resources in ingestion. */
  uploading: z.number(),
  inIngestion: z.number(),
  mirrors: z.array(daemonMirrorStatus).readonly(),
})

export type DaemonMirrorStatus = Readonly<z.infer<typeof daemonMirrorStatus>>
export type MirrorState = DaemonMirrorStatus['state']
export type DaemonStatus = Readonly<z.infer<typeof daemonStatus>>
