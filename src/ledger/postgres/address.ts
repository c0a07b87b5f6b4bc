import type { ConnectionOptions } from 'node:tls'

export interface LedgerAddress {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password?: () => Promise<string>
  readonly tls: ConnectionOptions | false
  /** How long a connection, and a call, may take. */
  readonly callTimeoutMs: number
  /** Called for records of a host that cannot be read; they are left out. */
  readonly onUnreadable?: (what: string, host: string) => void
  /** The program ends: from then on, a call takes two seconds at most. */
  readonly signal?: AbortSignal
}
