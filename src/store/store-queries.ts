import type Database from 'better-sqlite3'
import { type ContentQueries, prepareContents } from './tables/contents.ts'
import { type DirectoryQueries, prepareDirectories } from './tables/directories.ts'
import { type FileQueries, prepareFiles } from './tables/files.ts'
import { type KeyValueQueries, prepareKeyValues } from './tables/key-values.ts'
import { type MirrorQueries, prepareMirrors } from './tables/mirrors.ts'
import {
  type ObservedFileQueries,
  prepareObservedFiles,
  prepareUnconfirmed,
  type UnconfirmedQueries,
} from './tables/observed-files.ts'
import { type ProblemQueries, prepareProblems } from './tables/problems.ts'
import { prepareQuarantine, type QuarantineQueries } from './tables/quarantine.ts'
import { prepareReport, type ReportQueries } from './tables/report-rows.ts'
import { prepareRuns, type RunQueries } from './tables/runs.ts'
import { prepareTimeline, type TimelineQueries } from './tables/timeline.ts'
import { prepareUntracked, type UntrackedQueries } from './tables/untracked.ts'
import { prepareUploads, type UploadQueries } from './tables/uploads.ts'

/** Every query of the store, one file for each topic. */
export interface StoreQueries {
  readonly mirrors: MirrorQueries
  readonly directories: DirectoryQueries
  readonly files: FileQueries
  readonly observedFiles: ObservedFileQueries
  readonly contents: ContentQueries
  readonly uploads: UploadQueries
  readonly problems: ProblemQueries
  readonly runs: RunQueries
  readonly report: ReportQueries
  readonly keyValues: KeyValueQueries
  readonly quarantine: QuarantineQueries
  readonly unconfirmed: UnconfirmedQueries
  readonly untracked: UntrackedQueries
  readonly timeline: TimelineQueries
}

/** Prepares every query once on an open database. */
export function prepareQueries(database: Database.Database): StoreQueries {
  return {
    mirrors: prepareMirrors(database),
    directories: prepareDirectories(database),
    files: prepareFiles(database),
    observedFiles: prepareObservedFiles(database),
    contents: prepareContents(database),
    uploads: prepareUploads(database),
    problems: prepareProblems(database),
    runs: prepareRuns(database),
    report: prepareReport(database),
    keyValues: prepareKeyValues(database),
    quarantine: prepareQuarantine(database),
    unconfirmed: prepareUnconfirmed(database),
    untracked: prepareUntracked(database),
    timeline: prepareTimeline(database),
  }
}
