/** Whether a host, as an address or a URL names it, is this very machine. What other names resolve to is for others to say. */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|\[::1\]|::1|127(?:\.\d{1,3}){3})$/.test(host)
}

/**
 * The name in a `Host` header, without port and brackets. A page whose name was made to resolve to this machine (DNS
 * rebinding) sends that name.
 */
export function hostNameOf(header = ''): string | undefined {
  const found = /^(?:\[(?<six>[^\]]*)\]|(?<name>[^:]*))(?::\d+)?$/.exec(header.toLowerCase())
  return found?.groups?.six ?? found?.groups?.name
}
