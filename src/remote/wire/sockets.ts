import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectEncrypted, type PeerCertificate, type SecureContext, type TLSSocket } from 'node:tls'
import { onAbort } from '../../foundation/concurrency/waits.ts'
import { systemCodeOf } from '../../foundation/errors.ts'

/** The time from the first packet to the end of the handshake, with the proxy and again with the service. */
export const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_AFTER_MS = 60_000

/** Thrown if this program ends an attempt to connect; `code` is the one that the system would give. */
class ConnectionEnded extends Error {
  readonly code: 'ETIMEDOUT' | 'EPIPE'

  constructor(code: 'ETIMEDOUT' | 'EPIPE', reason: string) {
    super(reason)
    this.code = code
  }
}

/** Thrown if a certificate is not trusted; `shown` is the other side's certificate, if it could be read. */
export class CertificateFailure extends Error {
  readonly code: string
  readonly shown: PeerCertificate | undefined

  constructor(code: string, shown: PeerCertificate | undefined) {
    super(code)
    this.code = code
    this.shown = shown
  }
}

const CERTIFICATE =
  /^(?:CERT_|CRL_|ERROR_IN_C|ERR_TLS_CERT|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)|DEPTH_ZERO|SELF_SIGNED|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH)/

/** Returns whether a code of OpenSSL or Node means that a certificate is not trusted. */
export function isOfCertificate(code: string): boolean {
  return CERTIFICATE.test(code)
}

const OF_OUR_CERTIFICATE =
  /ALERT_(?:CERTIFICATE_(?:REQUIRED|REVOKED|EXPIRED|UNKNOWN)|(?:BAD|UNSUPPORTED)_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)$/

/** Returns whether a code of OpenSSL means that the other side wants a certificate of ours, or refuses the one it got. */
export function isOfOurCertificate(code: string): boolean {
  return OF_OUR_CERTIFICATE.test(code)
}

export interface HostPort {
  /** A name or an address; IPv6 addresses have no brackets. */
  readonly host: string
  readonly port: number
}

export function openSocket(hostPort: HostPort, signal: AbortSignal | undefined): Promise<Socket> {
  return whenConnected(connectPlain(hostPort), 'connect', signal)
}

export interface Security {
  /** Trusted certificates; undefined: Node's. */
  readonly context: SecureContext | undefined
  /** The TLS session of an earlier connection to the same host. */
  readonly session?: Buffer | undefined
  /** Aborts the attempt to connect when no request needs the connection any more. */
  readonly signal: AbortSignal | undefined
}

/**
 * Opens an encrypted connection for HTTP/1.1, over `socket` if there is one. Checks certificates even if the environment disables
 * this check; rejects with CertificateFailure if one is not trusted.
 */
export async function openSecureSocket(hostPort: HostPort, security: Security, socket?: Socket): Promise<TLSSocket> {
  const { context, session, signal } = security
  const secured = connectEncrypted({
    ...hostPort,
    ...(socket && { socket }),
    ...(context && { secureContext: context }),
    ...(session && { session }),
    ...(isIP(hostPort.host) === 0 && { servername: hostPort.host }),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
  let shown: PeerCertificate | undefined
  // After the check the certificate cannot be read any more. (Node's newer method would disturb the check.)
  secured.prependOnceListener('secure', () => {
    shown = secured.getPeerCertificate()
  })
  try {
    const connected = await whenConnected(secured, 'secureConnect', signal)
    // With TLS 1.3 the other side checks our certificate after the handshake, and a refusal is an error that does not close the socket:
    // without this listener, the HTTP client would report only that the connection was closed.
    connected.on('error', (error) => {
      if (isOfOurCertificate(systemCodeOf(error) ?? '')) connected.destroy(error)
    })
    return connected
  } catch (error) {
    const code = systemCodeOf(error) ?? ''
    throw isOfCertificate(code) ? new CertificateFailure(code, shown) : error
  }
}

function whenConnected<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal | undefined,
): Promise<S> {
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_AFTER_MS)
  return new Promise((resolve, reject) => {
    const late = new ConnectionEnded('ETIMEDOUT', 'no connection in time')
    const timer = setTimeout(() => socket.destroy(late), CONNECT_TIMEOUT_MS)
    const leave = () => socket.destroy(new ConnectionEnded('EPIPE', 'nobody waits'))
    if (signal?.aborted) leave()
    const listening = signal && onAbort(signal, leave)
    const end = () => {
      clearTimeout(timer)
      listening?.[Symbol.dispose]()
      socket.off('error', onError).off('close', onClose).off(event, onDone)
    }
    const onDone = () => {
      end()
      resolve(socket)
    }
    const onError = (error: Error) => {
      end()
      socket.on('error', () => {})
      reject(error)
    }
    const onClose = () => onError(new ConnectionEnded('EPIPE', 'closed'))
    socket.once(event, onDone).once('error', onError).once('close', onClose)
  })
}

const NO_TLS = 'what answers there does not use TLS; perhaps a sign-in page of this network'
/** With TLS 1.2 a service that demands a client certificate also refuses the handshake. */
const NO_HANDSHAKE = 'it refuses the TLS connection; it may demand a client certificate, see service.clientCertificate'

/** The words for a failed connection, by the code of the system or of the HTTP client. */
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

/** Returns words such as `connection refused`; if a code has none, returns the code. */
export function describeNetworkError(code: string): string {
  return WORDS[code] ?? (code.startsWith('ERR_SSL') ? `the TLS connection failed, ${code}` : code)
}
