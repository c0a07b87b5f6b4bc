import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Certificate } from './certificates.ts'

/** What stands between shelfd and a service in an office: a proxy, and encryption. */

interface Listening {
  readonly port: number
}

/** Takes encrypted connections and passes their bytes on to a server on loopback; it ends with the test. */
export async function startTlsFront(url: string, certificate: Certificate): Promise<Listening> {
  const { port } = new URL(url)
  const server = createTlsServer(certificate, (socket) => join(socket, connect(Number(port), '127.0.0.1')))
  server.on('tlsClientError', () => {})
  return listen(server)
}

export interface ProxyOptions {
  /** Ports on loopback by the names that only the proxy knows. */
  readonly names: Readonly<Record<string, number>>
  /** `user:password` it asks for. */
  readonly credentials?: string
  /** Encrypts the way to the proxy itself. */
  readonly certificate?: Certificate
}

export interface TestProxy extends Listening {
  /** What was asked for, such as `library.test:443`. */
  readonly targets: readonly string[]
  /** Connections that stand now. */
  readonly tunnels: ReadonlySet<Socket>
  /** Refuses with this status, as a policy or a proxy without network does. */
  refusal: number | undefined
  /** Accepts connections and never answers. */
  isSilent: boolean
}

/** A proxy on loopback that speaks CONNECT; it ends with the test. */
export async function startProxy({ names, credentials, certificate }: ProxyOptions): Promise<TestProxy> {
  const targets: string[] = []
  const tunnels = new Set<Socket>()
  const http = createHttpServer((_, answer) => answer.writeHead(400).end())
  http.on('connect', (request, socket) => {
    // @types has Duplex, because a server may be given other streams.
    open(request, request.socket).catch(() => socket.destroy())
  })
  const open = async (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    const target = request.url ?? ''
    targets.push(target)
    if (proxy.isSilent) return
    const status = refusalOf(request)
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const port = names[target.replace(/:\d+$/, '')]
    if (port === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
      return
    }
    const far = connect(port, '127.0.0.1')
    far.once('connect', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    tunnels.add(socket)
    socket.once('close', () => tunnels.delete(socket))
    join(socket, far)
  }
  const refusalOf = ({ headers }: IncomingMessage) => {
    if (proxy.refusal !== undefined) return proxy.refusal
    if (credentials === undefined) return undefined
    const wanted = `Basic ${Buffer.from(credentials).toString('base64')}`
    return headers['proxy-authorization'] === wanted ? undefined : 407
  }
  const front = certificate && createTlsServer(certificate, (socket) => http.emit('connection', socket))
  front?.on('tlsClientError', () => {})
  const listening = await listen(front ?? http)
  const proxy: TestProxy = { ...listening, targets, tunnels, refusal: undefined, isSilent: false }
  return proxy
}

function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy()).on('close', () => to.destroy())
    from.pipe(to)
  }
}

async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { port: portOf(server.address()) }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address.port
}

/** Answers the first bytes of each connection with `answer`, whatever they ask for, or never; it ends with the test. */
export async function startRawServer(answer?: string): Promise<Listening> {
  return listen(createServer((socket) => socket.once('data', () => answer !== undefined && socket.end(answer))))
}
