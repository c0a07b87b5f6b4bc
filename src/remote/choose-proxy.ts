import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../foundation/network/loopback.ts'

export interface ProxyChoice {
  /** The variable that names the proxy, for messages. */
  readonly variable: string
  /** The variable's value, trimmed. */
  readonly address: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the proxy to `origin`; undefined: none. As in curl, lower case wins, `ALL_PROXY` is the fallback, and an empty variable
 * counts as unset. Neither plain HTTP nor a service on this computer uses a proxy, so `HTTP_PROXY` has no effect.
 */
export function chooseProxy(origin: string, env: Environment): ProxyChoice | undefined {
  const { protocol, hostname, port } = new URL(origin)
  if (protocol !== 'https:' || isLoopback(hostname)) return undefined
  const choice = firstOf(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'])
  if (!choice) return undefined
  const exceptions = firstOf(env, ['no_proxy', 'NO_PROXY'])?.address ?? ''
  const names = exceptions.split(/[\s,]+/).filter((name) => name !== '')
  return names.some((name) => matchesException(name, hostname, port === '' ? '443' : port)) ? undefined : choice
}

function firstOf(env: Environment, variables: readonly string[]): ProxyChoice | undefined {
  for (const variable of variables) {
    const address = env[variable]?.trim()
    if (address) return { variable, address }
  }
  return undefined
}

/**
 * Returns whether an exception of NO_PROXY includes the service: `*`, a host, a domain with its hosts (`example.com`, `.example.com`,
 * `*.example.com`) or a block of addresses (`10.0.0.0/8`, `fd00::/8`). A port may follow, except after `*`; an IPv6 address then needs
 * brackets.
 */
function matchesException(exception: string, hostname: string, port: string): boolean {
  if (exception === '*') return true
  // The colons of an IPv6 address without brackets separate no port.
  const { name = exception, onlyPort } = /^(?<name>\[.*\]|[^:]*):(?<onlyPort>\d+)$/.exec(exception)?.groups ?? {}
  if (onlyPort !== undefined && onlyPort !== port) return false
  const host = bare(hostname)
  const wanted = bare(name).replace(/^\*?\./, '')
  if (host === wanted) return true
  if (isIP(host) !== 0) return isInBlock(host, wanted)
  return wanted !== '' && host.endsWith(`.${wanted}`)
}

/** Returns a name in lower case, without the brackets of an IPv6 address and the trailing dot of a full name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^\[|\]$|\.$/g, '')
}

function isInBlock(address: string, block: string): boolean {
  const family = isIP(address)
  const maxBits = family === 6 ? 128 : 32
  const [start = '', bits = String(maxBits)] = block.split('/')
  if (isIP(start) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > maxBits) return false
  const type = family === 6 ? 'ipv6' : 'ipv4'
  const blocks = new BlockList()
  blocks.addSubnet(start, Number(bits), type)
  return blocks.check(address, type)
}
