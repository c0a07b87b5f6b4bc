import type Database from 'better-sqlite3'
import { prepareContents } from './tables/contents.ts'
import { prepareDirectories } from './tables/directories.ts'
import { prepareFiles, SCAN_TABLES } from './tables/files.ts'
import { prepareForeign } from './tables/foreign-entries.ts'
import { prepareKeyValues } from './tables/key-values.ts'
import { prepareMirrors } from './tables/mirrors.ts'
import { prepareProblems, prepareQuarantine } from './tables/problems.ts'
import { LISTING_TABLE, prepareReport } from './tables/report-rows.ts'
import { prepareRuns, prepareTimeline } from './tables/runs.ts'
import { prepareScannedFiles, prepareUnconfirmed } from './tables/scanned-files.ts'
import { prepareUploads } from './tables/uploads.ts'

const TOPICS = {
  mirrors: prepareMirrors,
  directories: prepareDirectories,
  files: prepareFiles,
  scannedFiles: prepareScannedFiles,
  contents: prepareContents,
  uploads: prepareUploads,
  problems: prepareProblems,
  runs: prepareRuns,
  report: prepareReport,
  keyValues: prepareKeyValues,
  quarantine: prepareQuarantine,
  unconfirmed: prepareUnconfirmed,
  foreign: prepareForeign,
  timeline: prepareTimeline,
}

const TABLES =
  'meta, library, mirror, directory, content, file, unconfirmed, history, upload, foreign_entry, problem, run'

type Topics = typeof TOPICS

export type StoreQueries = { readonly [Topic in keyof Topics]: ReturnType<Topics[Topic]> }

/**
 * The queries of an open database. Those of a topic are prepared at its first use: no command and no thread needs all of them, and
 * preparing them takes longer than opening the database. Throws SQLite's error if a table is missing.
 */
export function prepareQueries(database: Database.Database): StoreQueries {
  database.prepare(`SELECT 1 FROM ${TABLES} LIMIT 0`)
  database.exec(SCAN_TABLES + LISTING_TABLE)
  const queries = {}
  for (const [topic, prepare] of Object.entries(TOPICS)) {
    const get = () => {
      const value = prepare(database)
      Object.defineProperty(queries, topic, { value, enumerable: true })
      return value
    }
    Object.defineProperty(queries, topic, { get, enumerable: true, configurable: true })
  }
  return queries as StoreQueries
}
