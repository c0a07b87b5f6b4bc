import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { ProxyChoice } from '../choose-proxy.ts'
import {
  CertificateFailure,
  CONNECT_TIMEOUT_MS,
  describeNetworkError,
  type HostPort,
  openSecureSocket,
  openSocket,
  type Security,
} from './sockets.ts'

/** A proxy that opens tunnels (CONNECT). */
export interface TunnelProxy {
  /** Scheme, host and port, as messages name the proxy. */
  readonly origin: string
  /** The environment variable that names the proxy. */
  readonly variable: string
  /** `user:password`, decoded; a secret. */
  readonly credentials: string | undefined
}

/** Thrown if the proxy is unreachable or refuses the tunnel; no byte of the request has left. */
export class ProxyFailure extends Error {
  /** True: only a person can fix this, so the client does not retry. */
  readonly isFinal: boolean

  constructor(reason: string, isFinal: boolean, options?: ErrorOptions) {
    super(reason, options)
    this.isFinal = isFinal
  }
}

/** Parses a proxy variable as curl does; throws UsageError, which never shows the value, because it may hold a password. */
export function parseProxy({ variable, address }: ProxyChoice): TunnelProxy {
  const url = URL.parse(/^[a-z][\w+.-]*:\/\//i.test(address) ? address : `http://${address}`)
  if (!url || url.hostname === '')
    throw unusable(variable, 'it must be an address such as http://proxy.example.com:3128')
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    return { origin: url.origin, variable, credentials: readCredentials(variable, url) }
  }
  const why = `shelfd can use http and https proxies, but not ${url.protocol.slice(0, -1)}`
  throw unusable(variable, `${why}; HTTPS_PROXY takes precedence over ALL_PROXY, and NO_PROXY excludes the service`)
}

function readCredentials(variable: string, { username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  } catch {
    throw unusable(variable, 'user and password must be percent-encoded')
  }
}

function unusable(variable: string, why: string): UsageError {
  return new UsageError('bad-configuration', `Cannot use the proxy that ${variable} names: ${why}`)
}

/** Opens a connection through the proxy to the service at `origin`; rejects with ProxyFailure. */
export async function openTunnel(proxy: TunnelProxy, origin: string, security: Security): Promise<Socket> {
  const { host, port } = hostPortOf(origin)
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  try {
    const socket = await reach(proxy, security)
    const { response, head } = await ask(proxy, target, socket, security.signal)
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) {
      if (head.length > 0) socket.unshift(head)
      return socket
    }
    socket.on('error', () => {}).destroy()
    throw refusalOf(proxy, target, response)
  } catch (error) {
    if (error instanceof ProxyFailure) throw error
    if (error instanceof CertificateFailure) throw new ProxyFailure('certificate', true, { cause: error })
    const code = systemCodeOf(error)
    const isOther = code === undefined || code.startsWith('HPE_')
    const why = isOther ? 'what answers there is no HTTP proxy' : describeNetworkError(code)
    throw new ProxyFailure(`${nameOf(proxy)} cannot be reached (${why})`, false)
  }
}

export function nameOf({ origin, variable }: TunnelProxy): string {
  return `the proxy ${origin} (${variable})`
}

/** Returns the host of an origin, without brackets, and its port. */
export function hostPortOf(origin: string): HostPort {
  const { protocol, hostname, port } = new URL(origin)
  const byDefault = protocol === 'https:' ? 443 : 80
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? byDefault : Number(port) }
}

function reach({ origin }: TunnelProxy, security: Security): Promise<Socket> {
  return origin.startsWith('https:')
    ? openSecureSocket(hostPortOf(origin), security)
    : openSocket(hostPortOf(origin), security.signal)
}

interface ProxyResponse {
  readonly response: IncomingMessage
  /** Bytes that the proxy sent after its answer. */
  readonly head: Buffer
}

function ask(
  proxy: TunnelProxy,
  target: string,
  socket: Socket,
  signal: AbortSignal | undefined,
): Promise<ProxyResponse> {
  const headers: Record<string, string> = { host: target, 'proxy-connection': 'keep-alive' }
  const { credentials } = proxy
  if (credentials !== undefined) headers['proxy-authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  const asking = request({ method: 'CONNECT', path: target, headers, createConnection: () => socket, signal })
  return new Promise((resolve, reject) => {
    const late = new ProxyFailure(`${nameOf(proxy)} does not answer`, false)
    const timer = setTimeout(() => asking.destroy(late), CONNECT_TIMEOUT_MS)
    asking.once('connect', (response: IncomingMessage, _: unknown, head: Buffer) => {
      clearTimeout(timer)
      resolve({ response, head })
    })
    asking.once('error', (error) => {
      clearTimeout(timer)
      socket.on('error', () => {}).destroy()
      reject(error)
    })
    asking.end()
  })
}

/**
 * Returns the failure for a tunnel that the proxy did not open. The client retries if the proxy is busy, cannot reach the service or first
 * wants a sign-in to the network. If the proxy refuses, only people can fix it.
 */
function refusalOf(
  proxy: TunnelProxy,
  target: string,
  { statusCode: status = 0, headers }: IncomingMessage,
): ProxyFailure {
  const name = nameOf(proxy)
  // tinyproxy answers 401 to wrong credentials.
  if (status === 407 || status === 401) {
    const refusal = proxy.credentials === undefined ? 'asks for credentials' : 'refuses the credentials'
    const hint = `set them in ${proxy.variable} as http://user:password@host:port`
    return new ProxyFailure(`${name} ${refusal} (${status}); ${hint}`, true)
  }
  if ((status >= 300 && status < 400) || status === 511) {
    const page = headers.location === undefined ? '' : ` to "${escapeText(truncateText(headers.location, 300))}"`
    const refusal = status === 511 ? 'wants a sign-in' : `redirects${page} instead of connecting to ${target}`
    return new ProxyFailure(
      `${name} ${refusal} (${status}); perhaps this network wants a sign-in with a browser`,
      false,
    )
  }
  if (status === 408 || status === 429 || status >= 500) {
    return new ProxyFailure(`${name} cannot connect to ${target} (${status})`, false)
  }
  const hint = 'ask its operator, or exclude the service with NO_PROXY'
  return new ProxyFailure(`${name} refuses connections to ${target} (${status}); ${hint}`, true)
}
