/** Returns whether a host is `localhost` or a loopback address; other names are not resolved. */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|\[::1\]|::1|127(?:\.\d{1,3}){3})$/.test(host)
}

/** Returns the name in a Host header, without port and brackets. In DNS rebinding, a page sends its own, which resolves to this machine. */
export function hostNameOf(header = ''): string | undefined {
  const found = /^(?:\[(?<six>[^\]]*)\]|(?<name>[^:]*))(?::\d+)?$/.exec(header.toLowerCase())
  return found?.groups?.six ?? found?.groups?.name
}
