/** How long a client may take for a request, and how many connections are open at most. */
export interface RequestLimits {
  /** From the connection, or the first byte of a later request, to the end of the headers. */
  readonly headersMs: number
  /** At least MIN_BODY_BYTES of a body must arrive in each such span. */
  readonly bodyIdleMs: number
  /** How long the server discards the rest of a body after it has answered, so that the client sees the answer. */
  readonly lingerMs: number
  /** When one more client connects, the server closes the connection that has been idle longest. */
  readonly maxConnections: number
}

export const REQUEST_LIMITS: RequestLimits = {
  headersMs: 20_000,
  bodyIdleMs: 60_000,
  lingerMs: 10_000,
  maxConnections: 512,
}

export const MIN_BODY_BYTES = 1_024

/** A percent-encoded library path of the greatest length fits into the request line. */
export const MAX_HEADER_BYTES = 64 * 1024

/** The longest fields of the interface fit in, each character escaped. */
export const MAX_JSON_BYTES = 256 * 1024
