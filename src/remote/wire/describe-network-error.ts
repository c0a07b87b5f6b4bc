const NO_TLS = 'what answers there does not use TLS; perhaps a sign-in page of this network'
/** With TLS 1.2 it is also the answer to a client without a certificate. */
const NO_HANDSHAKE = 'it refuses the TLS connection; it may demand a client certificate, see service.clientCertificate'

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
  EAFNOSUPPORT: 'no network',
  EPROTO: 'the TLS connection failed',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': NO_HANDSHAKE,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: NO_HANDSHAKE,
}

/** Returns words such as `connection refused`; a code that has none is returned itself. */
export function describeNetworkError(code: string): string {
  return WORDS[code] ?? (code.startsWith('ERR_SSL') ? `the TLS connection failed, ${code}` : code)
}
