/** Why a connection failed, in words, by the code of the system or of the HTTP client. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ECONNABORTED: 'connection aborted',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'the name server does not answer',
  ETIMEDOUT: 'no answer from that address',
  UND_ERR_CONNECT_TIMEOUT: 'no answer from that address',
  EHOSTUNREACH: 'no route to that computer',
  EHOSTDOWN: 'no route to that computer',
  ENETUNREACH: 'no network',
  ENETDOWN: 'no network',
  EADDRNOTAVAIL: 'no network',
  EPROTO: 'the TLS connection failed',
  ERR_SSL_WRONG_VERSION_NUMBER: 'that port does not use TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'that port does not use TLS',
}

/** Returns words such as `connection refused`; a code that has none is returned itself. */
export function wordsOf(code: string): string {
  return WORDS[code] ?? (code.startsWith('ERR_SSL') ? `the TLS connection failed, ${code}` : code)
}
