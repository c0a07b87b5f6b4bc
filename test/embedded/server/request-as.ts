import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

/** The answer to a GET with any headers, also a `Host`, which fetch would set itself; its body is not read. */
export async function requestAs(url: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const [incoming]: IncomingMessage[] = await once(request(url, { headers }).end(), 'response')
  if (!incoming) throw new Error(`No answer to ${url}`)
  incoming.resume()
  return incoming
}
