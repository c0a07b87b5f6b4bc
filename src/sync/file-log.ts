/** The log line of an upload that failed again; the summary of a run tells each as well. */
export const FAILED_AGAIN = 'an upload failed again'

/** A file that would be sent. */
export interface PlannedFile {
  readonly mirror: string
  /** Relative to the mirror's root. */
  readonly path: string
  readonly sizeBytes: number
}

/** A file that was sent, and the resource that the service made of it or had already. */
export interface SentFile extends PlannedFile {
  readonly resourceId: string
  readonly isDuplicate: boolean
}

/** Is told of each file by its name, one by one; what people see of that is decided behind it. */
export interface FileLog {
  wouldSend(file: PlannedFile): void
  sent(file: SentFile): void
}

export const silentFileLog: FileLog = { wouldSend() {}, sent() {} }
