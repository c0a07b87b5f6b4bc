import type { LibrarySummary } from '../../contract/records.ts'
import { createSession } from '../common/session.ts'
import type { ApiClient } from './api-client.ts'
import type { Uploads } from './upload/upload-queue.ts'

interface Session {
  readonly api: ApiClient
  readonly libraries: readonly LibrarySummary[]
  readonly uploads: Uploads
}

export const { SessionContext, useSession } = createSession<Session>()
