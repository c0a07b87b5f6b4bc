import type { LibrarySummary } from '../../contract/records.ts'
import { createSession, keepInTab } from '../common/session.ts'
import type { ApiClient } from './api-client.ts'

interface Session {
  readonly api: ApiClient
  readonly libraries: readonly LibrarySummary[]
}

export const { SessionContext, useSession } = createSession<Session>()

export const tokenOfTab = keepInTab('shelfd.token')
