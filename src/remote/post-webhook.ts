import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { systemCodeOf } from '../foundation/errors.ts'
import { connectSecurely } from './wire/connector.ts'
import { hostPortOf, ProxyFailure, type TunnelProxy } from './wire/proxy.ts'
import { CertificateFailure, describeNetworkError, openSocket } from './wire/sockets.ts'

export interface WebhookRequest {
  /** https, or http on this computer. It is a secret, because anyone who knows it can post. */
  readonly url: URL
  /** JSON. */
  readonly body: string
  readonly proxy: TunnelProxy | undefined
  readonly signal: AbortSignal
}

/** Thrown if the answer to a webhook is not 2xx. The message never contains the path of the URL, which is a secret. */
export class WebhookFailure extends Error {
  /** True: the request may have arrived all the same. */
  readonly mayHaveArrived: boolean

  constructor(reason: string, mayHaveArrived: boolean) {
    super(reason)
    this.mayHaveArrived = mayHaveArrived
  }
}

/** Posts once; throws WebhookFailure unless the answer is 2xx. Follows no redirect, which could take the message elsewhere. */
export async function postWebhook(webhook: WebhookRequest): Promise<void> {
  const socket = await connect(webhook)
  try {
    const status = await exchange(webhook, socket)
    if (status < 200 || status > 299) throw new WebhookFailure(`it answers ${status}`, false)
  } finally {
    socket.destroy()
  }
}

async function connect({ url, proxy, signal }: WebhookRequest): Promise<Socket> {
  try {
    if (url.protocol === 'http:') return await openSocket(hostPortOf(url.origin), signal)
    return await connectSecurely(url.origin, { proxy, signal }, { ofProxy: undefined, ofService: undefined })
  } catch (error) {
    throw new WebhookFailure(reasonOf(error, signal), false)
  }
}

function exchange({ url, body, signal }: WebhookRequest, socket: Socket): Promise<number> {
  const content = Buffer.from(body)
  const headers = {
    host: url.host,
    'content-type': 'application/json',
    'content-length': content.length,
    'user-agent': 'shelfd',
    connection: 'close',
  }
  const path = `${url.pathname}${url.search}`
  return new Promise((resolve, reject) => {
    const posting = request({ method: 'POST', path, headers, createConnection: () => socket, signal })
    const fail = (error: unknown) => reject(new WebhookFailure(reasonOf(error, signal), true))
    posting.once('error', fail)
    posting.once('response', (response: IncomingMessage) => {
      response.on('error', () => {})
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    posting.end(content)
  })
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'no answer in time'
  if (error instanceof ProxyFailure) return error.message
  const code = systemCodeOf(error) ?? 'no usable answer'
  return error instanceof CertificateFailure ? `its certificate is not trusted (${code})` : describeNetworkError(code)
}
