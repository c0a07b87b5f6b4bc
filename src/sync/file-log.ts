import { z } from 'zod'

/** The log line of an upload that failed again; the summary of a run tells each as well. */
export const FAILED_AGAIN = 'an upload failed again'

/** A file that would be sent; its path is relative to the mirror's root. */
const plannedFile = z.object({ mirror: z.string(), path: z.string(), sizeBytes: z.number() })

/** A file that was sent, and the resource that the service made of it or had already. */
export const sentFile = plannedFile.extend({ resourceId: z.string(), isDuplicate: z.boolean() })

export type PlannedFile = Readonly<z.infer<typeof plannedFile>>
export type SentFile = Readonly<z.infer<typeof sentFile>>

/** Is told of each file by its name, one by one; what people see of that is decided behind it. */
export interface FileLog {
  wouldSend(file: PlannedFile): void
  sent(file: SentFile): void
}

export const silentFileLog: FileLog = { wouldSend() {}, sent() {} }
