import { createSession, keepInTab } from '../common/session.ts'
import type { DashboardClient } from './dashboard-client.ts'
import type { Live } from './use-live.ts'

interface Session {
  readonly client: DashboardClient
  readonly live: Live
}

export const { SessionContext, useSession } = createSession<Session>()

export const tokenOfTab = keepInTab('shelfd.dashboard')
