import type { Connection, Engine } from '../engine.ts'
import { IngestionFollower } from './follow-ingestion.ts'
import { PollSchedule } from './poll-schedule.ts'
import { PollRecorder } from './record-polls.ts'

/** Composes the follower of the ingestion of what is uploaded over `connection`. */
export function createFollower(engine: Engine, connection: Connection): IngestionFollower {
  return new IngestionFollower(engine, connection, {
    schedule: new PollSchedule(engine),
    recorder: new PollRecorder(engine),
  })
}
