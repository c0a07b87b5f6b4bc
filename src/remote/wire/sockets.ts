import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectEncrypted, type PeerCertificate, type SecureContext, type TLSSocket } from 'node:tls'
import { systemCodeOf } from '../../foundation/errors.ts'

/** From the first packet to the end of the handshake, for the proxy and for the service. */
export const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_AFTER_MS = 60_000

/** An attempt to connect that this program ended, with the code that the system would give. */
class ConnectionEnded extends Error {
  readonly code: 'ETIMEDOUT' | 'EPIPE'

  constructor(code: 'ETIMEDOUT' | 'EPIPE', reason: string) {
    super(reason)
    this.code = code
  }
}

/** A certificate is not trusted; `shown` is the other side's certificate, if it could be read. */
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
  return settled(connectPlain(hostPort), 'connect', signal)
}

export interface Security {
  /** Trusted certificates; undefined: Node's. */
  readonly context: SecureContext | undefined
  /** The TLS session of an earlier connection to the same host. */
  readonly session?: Buffer | undefined
  /** Aborts the attempt, when no request needs the connection any more. */
  readonly signal: AbortSignal | undefined
}

/**
 * Opens an encrypted connection for HTTP/1.1, over `socket` if given. Checks certificates even if the environment disables
 * that; rejects with CertificateFailure if one is not trusted.
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
    const connected = await settled(secured, 'secureConnect', signal)
    // With TLS 1.3 the other side judges our certificate after the handshake. Its verdict is an error that the socket survives:
    // without this, the HTTP client would report only that the connection was closed.
    connected.on('error', (error) => {
      if (isOfOurCertificate(systemCodeOf(error) ?? '')) connected.destroy(error)
    })
    return connected
  } catch (error) {
    const code = systemCodeOf(error) ?? ''
    throw isOfCertificate(code) ? new CertificateFailure(code, shown) : error
  }
}

function settled<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal | undefined,
): Promise<S> {
  socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_AFTER_MS)
  return new Promise((resolve, reject) => {
    const late = new ConnectionEnded('ETIMEDOUT', 'no connection in time')
    const timer = setTimeout(() => socket.destroy(late), CONNECT_TIMEOUT_MS)
    const onAbort = () => socket.destroy(new ConnectionEnded('EPIPE', 'nobody waits'))
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort)
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
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
