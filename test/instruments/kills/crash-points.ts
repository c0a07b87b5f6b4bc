/**
 * Where a process may be killed, each with a name. None needs code in the program: what it asks is seen by the service, and
 * what it keeps by a layer between it and the C library (test/support/state-faults.c), which finds more places than anyone
 * would label by hand. A commit is a `sync store.db-wal`: the scan recorded, a removal, an intent, a receipt, what ingestion
 * came to, in this order; the kill before it loses all of it, the kill after it nothing.
 */
export const SERVICE_MOMENTS = [
  'access asked',
  'listing asked',
  'directory asked',
  'directory made',
  'directory answered',
  'upload begun',
  'upload whole',
  'upload stored',
  'upload answered',
  'resource asked',
  'resource answered',
  'download asked',
] as const

export type ServiceMoment = (typeof SERVICE_MOMENTS)[number]

/** A kind of change, and how often a small run comes to it. */
export type StateChange = readonly [name: string, times: number]

/** Changes of the state directory, in the order in which a first run comes to them. */
export const STATE_CHANGES = [
  ['create lock', 1],
  ['write lock', 1],
  ['create store.db', 1],
  ['create store.db-journal', 1],
  ['write store.db-journal', 2],
  ['sync store.db-journal', 2],
  ['write store.db', 20],
  ['sync store.db', 2],
  ['unlink store.db-journal', 1],
  ['create store.db-wal', 1],
  ['create store.db-shm', 1],
  ['truncate store.db-shm', 1],
  ['write store.db-shm', 8],
  ['write store.db-wal', 90],
  ['sync store.db-wal', 14],
  ['sync shelfd', 3],
  ['create generation.new', 1],
  ['write generation.new', 1],
  ['sync generation.new', 1],
  ['rename generation', 1],
  ['write generation', 12],
  ['truncate store.db', 1],
  ['unlink store.db-shm', 1],
  ['unlink store.db-wal', 1],
  ['sync generation', 1],
] as const satisfies readonly StateChange[]

/** What an older store goes through before that. */
export const MIGRATION_CHANGES = [
  ['create store.db.v1.bak.part', 1],
  ['write store.db.v1.bak.part-journal', 2],
  ['write store.db.v1.bak.part', 20],
  ['sync store.db.v1.bak.part', 1],
  ['unlink store.db.v1.bak.part-journal', 1],
  ['rename store.db.v1.bak', 1],
  ['write store.db-wal', 40],
  ['sync store.db-wal', 2],
] as const satisfies readonly StateChange[]
