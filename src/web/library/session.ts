import type { LibrarySummary } from '../../contract/records.ts'
import type { ApiClient } from '../common/api-client.ts'
import { createSession, keepInTab } from '../common/session.ts'

interface Session {
  readonly api: ApiClient
  readonly libraries: readonly LibrarySummary[]
}

export const { SessionContext, useSession } = createSession<Session>()

export const tokenOfTab = keepInTab('shelfd.token')
