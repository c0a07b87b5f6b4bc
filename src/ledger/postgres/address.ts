import type { ConnectionOptions } from 'node:tls'

export interface LedgerAddress {
  /** A host name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password?: () => Promise<string>
  readonly tls: ConnectionOptions | false
  /** How long connecting may take, and each call. */
  readonly callTimeoutMs: number
  /** Called for a record of a host that cannot be read and is therefore left out. */
  readonly onUnreadable?: (what: string, host: string) => void
  /** Aborted when the program ends; from then on, a call takes two seconds at most. */
  readonly signal?: AbortSignal
}
