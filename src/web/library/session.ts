import type { LibrarySummary } from '../../contract/records.ts'
import type { ApiClient } from '../common/api-client.ts'
import { createSession, keepInTab } from '../common/session.ts'

/** The session of somebody who is signed in. */
interface Session {
  readonly api: ApiClient
  /** The libraries that may be read. */
  readonly libraries: readonly LibrarySummary[]
}

export const { SessionContext, useSession } = createSession<Session>()

export const tokenOfTab = keepInTab('shelfd.token')
