import { z } from 'zod'
import type { ResourceRow } from '../database/tables/resources.ts'

const timed = z.object({ duration_seconds: z.number().optional() })

/** The duration of a recording in seconds; undefined when it is not known. */
export function durationOf({ properties }: Pick<ResourceRow, 'properties'>): number | undefined {
  return timed.parse(JSON.parse(properties)).duration_seconds
}
