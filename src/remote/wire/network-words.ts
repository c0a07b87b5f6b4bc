/** Why a connection failed, in words, by the code of the system or of the HTTP client. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ECONNABORTED: 'connection aborted',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'the name cannot be looked up now',
  ETIMEDOUT: 'nobody answers at that address',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answers at that address',
  EHOSTUNREACH: 'no way to that computer',
  EHOSTDOWN: 'no way to that computer',
  ENETUNREACH: 'no network',
  ENETDOWN: 'no network',
  EADDRNOTAVAIL: 'no network',
  EPROTO: 'the encryption failed',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no encryption is spoken there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no encryption is spoken there',
}

/** Returns words such as `connection refused`; a code that has none is returned itself. */
export function wordsOf(code: string): string {
  return WORDS[code] ?? (code.startsWith('ERR_SSL') ? `the encryption failed, ${code}` : code)
}
