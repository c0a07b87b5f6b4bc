import { isLoopback } from '../foundation/network/loopback.ts'

/** Chooses the proxy for a service by the environment variables that other programs use too. */

export interface ProxyChoice {
  /** The variable that names the proxy, for messages. */
  readonly variable: string
  /** The variable's value, trimmed. */
  readonly address: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy to `origin`; undefined: none. As in curl, lower case wins, `ALL_PROXY` is the fallback, and an empty variable
 * counts as unset. Neither plain HTTP nor a service on this computer uses a proxy, so `HTTP_PROXY` has no effect.
 */
export function chooseProxy(origin: string, env: Environment): ProxyChoice | undefined {
  const { protocol, hostname, port } = new URL(origin)
  if (protocol !== 'https:' || isLoopback(hostname)) return undefined
  const choice = firstOf(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'])
  if (!choice) return undefined
  const exceptions = firstOf(env, ['no_proxy', 'NO_PROXY'])?.address ?? ''
  const names = exceptions.split(/[\s,]+/).filter((name) => name !== '')
  return names.some((name) => isMeant(name, hostname, port === '' ? '443' : port)) ? undefined : choice
}

function firstOf(env: Environment, variables: readonly string[]): ProxyChoice | undefined {
  for (const variable of variables) {
    const address = env[variable]?.trim()
    if (address) return { variable, address }
  }
  return undefined
}

/**
 * An exception is `*`, a host, a domain with its hosts (`example.com`, `.example.com`, `*.example.com`) or an IPv4 block; a
 * port may follow.
 */
function isMeant(exception: string, hostname: string, port: string): boolean {
  if (exception === '*') return true
  const { name = exception, port: onlyPort } = /^(?<name>.*[^:]):(?<port>\d+)$/.exec(exception)?.groups ?? {}
  if (onlyPort !== undefined && onlyPort !== port) return false
  const host = bare(hostname)
  const wanted = bare(name).replace(/^\*?\./, '')
  if (host === wanted) return true
  const address = numberOf(host)
  if (address !== undefined) return isInBlock(address, wanted)
  return wanted !== '' && host.endsWith(`.${wanted}`)
}

/** In lower case, without the brackets of an IPv6 address and the trailing dot of a full name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^\[|\]$|\.$/g, '')
}

function isInBlock(address: number, block: string): boolean {
  const [start = '', bits = ''] = block.split('/')
  const first = numberOf(start)
  if (first === undefined || !/^\d{1,2}$/.test(bits) || Number(bits) > 32) return false
  const size = 2 ** (32 - Number(bits))
  return Math.floor(address / size) === Math.floor(first / size)
}

/** An IPv4 address as a number. */
function numberOf(text: string): number | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined
  return text.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}
