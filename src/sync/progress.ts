export type Phase = 'starting' | 'scanning' | 'directories' | 'uploading' | 'ingestion' | 'finished'

/** What is going on now: plain counters that stages raise and a display reads when it likes. */
export interface Progress {
  mirror: string
  phase: Phase
  filesScanned: number
  filesHashed: number
  bytesHashed: number
  directoriesDone: number
  directoriesTotal: number
  contentsSent: number
  contentsTotal: number
  bytesSent: number
  bytesTotal: number
  inIngestion: number
  searchable: number
}

export function createProgress(): Progress {
  return {
    mirror: '',
    phase: 'starting',
    filesScanned: 0,
    filesHashed: 0,
    bytesHashed: 0,
    directoriesDone: 0,
    directoriesTotal: 0,
    contentsSent: 0,
    contentsTotal: 0,
    bytesSent: 0,
    bytesTotal: 0,
    inIngestion: 0,
    searchable: 0,
  }
}
